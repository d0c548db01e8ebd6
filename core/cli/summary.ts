import path from 'node:path'
import { styleText } from 'node:util'
import type { Settings } from '../config/settings.ts'
import type { Kernel } from '../kernel.ts'
import { statusOfAll } from '../handlers/network.ts'

/** A network that has not answered by then is shown as down. */
const deadlineMs = 1_500

const bold = (text: string) => styleText('bold', text)
const dim = (text: string) => styleText('dim', text)
const good = (text: string) => styleText('green', text)
const bad = (text: string) => styleText('red', text)

/** What a person wants to know once the server is up. */
export async function summary(kernel: Kernel, settings: Settings): Promise<string> {
  return [
    '',
    `${bold('Sluice')} is ready at ${bold(kernel.url)} ${dim(`(${(kernel.startedInMs / 1000).toFixed(1)} s)`)}`,
    '',
    ...pluginLines(kernel),
    '',
    ...(await networkLines(kernel)),
    '',
    ...walletLines(kernel),
    '',
    bold('Certificates'),
    `  ${settings.ssl.certsDir}  ${dim('a bot needs ca_cert.pem, client_cert.pem and client_key.pem')}`,
    ...kernel.warnings.map((warning) => `\n${bad('!')} ${warning}`),
    '',
    ...examples(kernel, settings),
    '',
    dim('Read the interface at /docs. Ctrl-C stops the server.'),
    '',
  ].join('\n')
}

function pluginLines({ services }: Kernel): string[] {
  const { plugins } = services.directory
  const loaded = plugins.filter(({ state }) => state === 'loaded')
  const refused = plugins.filter(({ state }) => state === 'refused')
  const chains = loaded.filter(({ kind }) => kind === 'chain').map(({ name }) => name)
  const connectors = loaded.filter(({ kind }) => kind === 'connector')
  const rows = [
    ...(chains.length > 0 ? [{ name: `${chains.length} ${chains.length === 1 ? 'chain' : 'chains'}`, what: '', where: chains }] : []),
    ...connectors.map(({ name, trading_type, available_networks }) => ({
      name,
      what: trading_type.join(' '),
      where: available_networks.map(({ chain }) => chain),
    })),
  ]
  const nameWidth = Math.max(0, ...rows.map(({ name }) => name.length), ...refused.map(({ name }) => name.length))
  const whatWidth = Math.max(0, ...rows.map(({ what }) => what.length))
  return [
    bold('Plugins'),
    ...rows.map(({ name, what, where }) => `  ${good('✓')} ${name.padEnd(nameWidth)}  ${what.padEnd(whatWidth)}  ${dim(where.join(', '))}`),
    ...refused.map(({ name, reason, folder }) => `  ${bad('✗')} ${name.padEnd(nameWidth)}  refused: ${reason ?? ''}  ${dim(folder)}`),
  ]
}

/** Only those that the server needs are asked: the others are connected to when they are used. */
async function networkLines({ services: { directory } }: Kernel): Promise<string[]> {
  const needed = directory.networks.filter(({ required }) => required)
  const others = directory.networks.filter(({ required }) => !required)
  const rows = await statusOfAll(needed, AbortSignal.timeout(deadlineMs))
  const width = Math.max(0, ...rows.map(({ chain, network }) => chain.length + network.length + 1))
  return [
    bold('Networks'),
    ...rows.map(({ chain, network, currentBlockNumber, currentBlockSeconds, rpcUrl, error }) => {
      const name = `${chain}/${network}`.padEnd(width)
      if (error !== undefined) return `  ${bad('✗')} ${name}  ${dim(`no node answers; its nodes are set in conf/chains/${chain}.yml`)}`
      return `  ${good('✓')} ${name}  block ${currentBlockNumber}, ${currentBlockSeconds} s ago  ${dim(rpcUrl)}`
    }),
    ...(others.length > 0
      ? [`  ${dim('-')} ${others.length} more  ${dim('connected to when they are first used; /network/status asks them all')}`]
      : []),
  ]
}

function walletLines({ services }: Kernel): string[] {
  const wallets = services.wallets.all()
  if (wallets.length === 0) return [bold('Wallets'), '  none; add one with `bin/sluice wallet add`']
  return [
    bold('Wallets'),
    ...wallets.map(
      ({ chain, address, label, devnet }) =>
        `  ${chain}  ${address}  ${dim([label, devnet && 'devnet only: everybody knows its key'].filter(Boolean).join(', '))}`,
    ),
  ]
}

/** Two commands that work as they are pasted, where there is a devnet to try them on. */
function examples({ url, services, devnet }: Kernel, { ssl }: Settings): string[] {
  const certs = path.relative(process.cwd(), ssl.certsDir) || '.'
  const curl = `curl --cacert ${certs}/ca_cert.pem --cert ${certs}/client_cert.pem --key ${certs}/client_key.pem -w '\\n'`
  const wallet = services.wallets.all().find((each) => each.devnet)
  // The one that is on most chains is the one that people know.
  const [connector] = services.directory.connectors
    .filter(({ available_networks }) => available_networks.some(({ networks }) => networks.includes('local')))
    .toSorted((a, b) => b.available_networks.length - a.available_networks.length)
  if (!devnet || !wallet || !connector) return [bold('Try it'), `  ${curl} ${url}/network/status`]
  const venue = { chain: wallet.chain, network: 'local', connector: connector.name }
  const query = new URLSearchParams({ ...venue, base: 'WETH', quote: 'USDC', amount: '1', side: 'SELL' })
  const trade = JSON.stringify({ ...venue, address: wallet.address, base: 'ETH', quote: 'USDC', amount: '1', side: 'SELL' })
  return [
    bold('A quote'),
    `  ${curl} '${url}/amm/price?${query.toString()}'`,
    '',
    bold('A trade'),
    `  ${curl} -H 'Content-Type: application/json' -d '${trade}' ${url}/amm/trade`,
  ]
}
