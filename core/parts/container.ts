import { asFunction, createContainer, InjectionMode, type AwilixContainer } from 'awilix/browser'

/** A part of the server, made once. */
export interface Part<T, Parts> {
  /** Gets the parts before it by their names. One that is opened asynchronously is there for the next ones as what it resolves to. */
  open(parts: Parts): T | Promise<T>
  /** Called after the parts behind it have stopped. @param parts those that were opened */
  stop?(part: T, parts: Parts): unknown
}

/** Parts by name, in the order in which they are opened. */
export type PartsOf<Parts> = { readonly [Name in keyof Parts]: Part<Parts[Name], Parts> }

/**
 * Opens all parts, one after the other. `dispose` of the container stops them in the opposite order, one after the other.
 * @throws what a part throws, once those before it have stopped
 */
export async function openParts<Parts extends object>(parts: PartsOf<Parts>): Promise<AwilixContainer<Parts>> {
  const container = createContainer<Parts>({ injectionMode: InjectionMode.PROXY, strict: true })
  const opened: Partial<Parts> = {}
  let stopped: Promise<unknown> = Promise.resolve()
  for (const [name, { open, stop }] of Object.entries<Part<unknown, Parts>>(parts)) {
    // Awilix calls all disposers at once, in the order of its cache.
    const stopLast = (value: unknown) => (stopped = stopped.catch(() => {}).then(() => stop?.(value, opened as Parts)))
    container.register(name, asFunction(open).singleton().disposer(stopLast))
  }
  const { cache } = container
  for (const name of Object.keys(parts)) {
    const earlier = [...cache]
    try {
      const opening: unknown = container.resolve(name)
      const { resolver } = cache.get(name) ?? {}
      const value = await opening
      Object.assign(opened, { [name]: value })
      cache.clear()
      if (resolver) cache.set(name, { resolver, value })
      for (const [key, entry] of earlier) cache.set(key, entry)
    } catch (error) {
      cache.delete(name)
      // What a part throws while it stops hides nothing of that.
      await container.dispose().catch(() => {})
      throw error
    }
  }
  return container
}
