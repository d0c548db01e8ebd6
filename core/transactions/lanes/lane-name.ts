/** Whose slots transactions take: those of a network, or of an exchange's own rail on it. */
export interface RailPlace {
  readonly chain: string
  readonly network: string
  /** Whose own rail; absent: the chain's. */
  readonly connector?: string
}

export const railName = ({ chain, network, connector }: RailPlace): string =>
  connector === undefined ? `${chain}/${network}` : `${chain}/${network}/${connector}`

/** @param address of the wallet, or of whose key signs on an exchange's own rail */
export const laneName = (place: RailPlace, address: string): string => `${railName(place)}/${address}`
