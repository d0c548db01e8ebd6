import { SluiceError } from '../../api/index.ts'
import type { Verb } from '../context.ts'
import { didYouMean } from '../did-you-mean.ts'

export const connectorConfig: Verb<'ConnectorConfig'> = async ({ connector }, { services: { directory } }) => {
  const loaded = directory.plugins.filter(({ kind, state }) => kind === 'connector' && state === 'loaded')
  const plugin = loaded.find(({ name }) => name === connector)
  if (!plugin) {
    const known = loaded.map(({ name }) => name)
    throw new SluiceError(
      'UNKNOWN_CONNECTOR',
      `There is no connector "${connector}"${didYouMean(connector, known)}; GET /connectors lists them.`,
    )
  }
  const { name, trading_type, available_networks, shownConfig } = plugin
  return { ...shownConfig, name, trading_type, available_networks }
}
