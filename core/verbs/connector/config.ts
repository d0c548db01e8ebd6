import type { Verb } from '../../handlers/context.ts'

export const connectorConfig: Verb<'ConnectorConfig'> = async ({ connector }, { services: { directory } }) => {
  const { name, trading_type, available_networks, shownConfig } = directory.connector(connector)
  return { ...shownConfig, name, trading_type, available_networks }
}
