import { SluiceError } from '../../api/index.ts'
import { didYouMean } from '../did-you-mean.ts'
import type { Directory, NetworkEntry } from '../../handlers/registry.ts'

interface Names {
  chain?: string
  network?: string
}

/** The networks of a chain, those of a name, or all of them. @throws SluiceError UNKNOWN_CHAIN_ERROR for a name that none has */
export function networksNamed({ networks }: Pick<Directory, 'networks'>, { chain, network }: Names): readonly NetworkEntry[] {
  const wanted = networks.filter((each) => (chain ?? each.chain) === each.chain && (network ?? each.network) === each.network)
  if (wanted.length > 0 || (chain === undefined && network === undefined)) return wanted
  const names = networks.map((each) =>
    chain === undefined ? each.network : network === undefined ? each.chain : `${each.chain}/${each.network}`,
  )
  const name = [chain, network].filter((each) => each !== undefined).join('/')
  throw new SluiceError(
    'UNKNOWN_CHAIN_ERROR',
    `There is no network "${name}"${didYouMean(name, names)}; known: ${[...new Set(names)].join(', ')}.`,
  )
}
