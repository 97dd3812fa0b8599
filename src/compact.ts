/** The members of `value` that are not undefined. */
type Compact<T> = {
  [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name]
} & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>
}

/** A copy of `value` without its undefined members. */
export function compact<T extends object>(value: T): Compact<T> {
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => member !== undefined),
  ) as Compact<T>
}
