import { SluiceError } from '../../api/index.ts'
import type { Verb } from '../../handlers/context.ts'
import { didYouMean } from '../did-you-mean.ts'

export const networkChainConfig: Verb<'NetworkChainConfig'> = async ({ chain }, { services: { directory } }) => {
  const chains = directory.plugins.filter(({ kind, state }) => kind === 'chain' && state === 'loaded')
  const plugin = chains.find(({ name }) => name === chain)
  if (plugin) return { ...plugin.shownConfig }
  throw new SluiceError(
    'UNKNOWN_CHAIN_ERROR',
    `There is no chain "${chain}"${didYouMean(
      chain,
      chains.map(({ name }) => name),
    )}.`,
  )
}
