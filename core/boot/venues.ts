import { asFunction, type AwilixContainer } from 'awilix'
import type { Life } from '../contracts/index.ts'
import { startVenue, type RunningVenue } from '../loader/start-venue.ts'
import { type LoadedPlugin, type LoadedVenue } from '../loader/loaded-plugin.ts'

export interface Venues {
  readonly running: ReadonlyMap<LoadedVenue<object>, RunningVenue>
  stop(): Promise<unknown>
}

/**
 * Each venue in a scope of its own, whose end is the venue's. Starting goes on beside the server: a dead node holds up nobody. What is
 * on a network that is not required starts when it is first asked for.
 */
export function startVenues<C extends object>(container: AwilixContainer<C>, loaded: readonly LoadedPlugin[]): Venues {
  const running = new Map<LoadedVenue<object>, RunningVenue>()
  const required = new Set(
    loaded.flatMap(({ kind, name, configuration: { networks } }) =>
      kind === 'chain' ? Object.keys(networks).flatMap((network) => (networks[network]?.required ? `${name}/${network}` : [])) : [],
    ),
  )
  const scopes = loaded
    .flatMap((plugin) => [...plugin.venues])
    .map((venue: LoadedVenue<Life>) => {
      const scope = container.createScope<{ running: RunningVenue }>()
      scope.register({
        running: asFunction(() => startVenue(venue, { onDemand: !required.has(`${venue.chain}/${venue.network}`) }))
          .scoped()
          .disposer((each) => each.stop()),
      })
      running.set(venue, scope.cradle.running)
      return scope
    })
  return { running, stop: () => Promise.all(scopes.map((scope) => scope.dispose())) }
}
