// `sluice plugin lift`: the operator's word that a quarantined plugin may act again. What stands against it is in the store of a running server.
import { Command } from 'commander'
import * as Type from 'typebox'
import { ShownPlugin, PluginsLiftResponse } from '../api/plugins.ts'
import type { Settings } from '../config/settings.ts'
import { command } from '../base/layout.ts'
import { ask, hasTerminal } from '../base/terminal.ts'
import { complain, isYes, printResult } from './output.ts'
import { readResponse, type ServerClient } from './server-client.ts'
import { addServerOptions, certificateName, formerAs, serverOf, type ServerOptions } from './server-options.ts'

interface LiftOptions extends ServerOptions {
  readonly yes?: true
  readonly client?: string
}

export function liftCommand(settingsOf: () => Settings): Command {
  return addServerOptions(
    new Command('lift')
      .description('let a quarantined plugin act again: one whose transaction did more to a wallet than its plan was allowed')
      .argument('<name>', 'its name')
      .option('--yes', 'do not ask'),
    undefined,
    'admin',
  )
    .addOption(formerAs())
    .action((name: string, options: LiftOptions) => printResult(() => lift(name, options, settingsOf())))
}

type Quarantine = NonNullable<ShownPlugin['quarantine']>

async function lift(name: string, { yes, client, as, ...access }: LiftOptions, settings: Settings): Promise<string> {
  const named = certificateName({ as, client })
  const server = serverOf(settings, { ...access, ...(named !== undefined && { as: named }) })
  const quarantine = (await quarantinesOn(server)).get(name)
  if (quarantine) complain(`${name} is quarantined: ${quarantineWords(quarantine)}`)
  if (quarantine && yes !== true) {
    if (!hasTerminal()) throw new Error('There is no terminal to ask at; nothing was changed. Look at what is above, and say --yes.')
    if (!isYes(await ask('Let it act again? Type yes: '))) throw new Error('Not lifted; nothing was changed.')
  }
  const { lifted } = readResponse(PluginsLiftResponse, await server.post('/plugins/lift', { plugin: name }))
  const which = lifted.map(({ chain, network, txHash }) => `${txHash} on ${chain}/${network}`).join(', ')
  return `${name} may act again. It was quarantined for ${which}. To take it out instead: ${command} plugin remove ${name}`
}

/** The quarantined plugins of a running server, by name. @throws Error where it does not say */
export async function quarantinesOn(server: ServerClient): Promise<ReadonlyMap<string, Quarantine>> {
  const plugins = readResponse(Type.Array(ShownPlugin), await server.get('/plugins'))
  return new Map(plugins.flatMap(({ name, quarantine }) => (quarantine ? [[name, quarantine] as const] : [])))
}

/** For people: what was lost, where and when. */
export function quarantineWords({ since, chain, network, txHash, address, lost, breaches }: Quarantine): string {
  const losses = lost.map(({ amount, symbol, token, how }) => `${amount} ${symbol ?? `(smallest units) of ${token}`} ${how}`).join(', ')
  const whose = txHash === undefined ? 'a transaction' : `${txHash} of ${address}`
  const others = breaches > 1 ? `, the first of ${breaches}` : ''
  return `${whose} on ${chain}/${network} did more to the wallet than its plan was allowed (${losses})${others}, found ${new Date(since).toISOString()}. Nothing is signed for it.`
}
