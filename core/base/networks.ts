/** A network, by the name of its chain and its own. */
export interface NetworkName {
  readonly chain: string
  readonly network: string
}

/** As settings and messages name it. */
export const networkPath = ({ chain, network }: NetworkName): string => `${chain}/${network}`
