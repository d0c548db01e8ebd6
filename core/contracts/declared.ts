import type { DevnetPlugin } from './devnet.ts'

/** One kind of plugins that are data alone, by the kit that makes them of their `plugin.yml`. */
export interface DeclaredKit {
  /** JSON Schema of the whole file. */
  readonly schema: object
  /**
   * @param data that the schema accepts
   * @param list of a chain: the tokens of its `tokens.json` @returns a plugin @throws Error with what does not fit together
   */
  plugin(data: never, list: { readonly tokens: readonly ListedToken[] }): unknown
  /** The files that take the place of `plugin.yml`, by their names: the same plugin as code. */
  code(data: never): Readonly<Record<string, string>>
  /** What is deployed on the devnet for the tests of a plugin, by the kit's module for that. */
  readonly devnet?: {
    readonly module: string
    make(module: never, data: never): DevnetPlugin | undefined
  }
}

interface ListedToken {
  readonly chainId: number
  readonly address: string
  readonly symbol: string
  readonly decimals: number
}

/** What kits say of such plugins; core knows no kit. */
export interface DeclaredKits {
  /** By the `kit` of the file. */
  readonly declaredKits: Readonly<Record<string, DeclaredKit>>
  /** Whether a text that looks like an address is none: its checksum is wrong. */
  isMistypedAddress(value: string): boolean
}
