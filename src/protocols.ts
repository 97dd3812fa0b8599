/** The three protocols of a gateway. */
export const protocols = ['chat', 'responses', 'messages'] as const
export type ProtocolName = (typeof protocols)[number]
