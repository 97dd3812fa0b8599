/** The three protocols of a gateway. */
export const protocols = ['chat', 'responses', 'messages'] as const
export type Protocol = (typeof protocols)[number]
