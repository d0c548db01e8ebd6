// What `sluice start` prints once the server is up: whether it is ready, and commands to paste.
import path from 'node:path'
import { styleText } from 'node:util'
import type { Settings } from '../config/settings.ts'
import type { TradingType } from '../contracts/index.ts'
import { networkStatuses } from '../handlers/network.ts'
import type { Kernel } from '../kernel.ts'
import { command } from '../base/layout.ts'

/** A network that does not answer in this time is shown as down. */
const deadlineMs = 1_500

const bold = (text: string) => styleText('bold', text)
const dim = (text: string) => styleText('dim', text)
const good = (text: string) => styleText('green', text)
const bad = (text: string) => styleText('red', text)

type FailingPart = Awaited<ReturnType<Kernel['services']['failing']>>[number]

/** The summary that is printed once the server is up. */
export async function summary(kernel: Kernel, settings: Settings, failing: readonly FailingPart[]): Promise<string> {
  return [
    '',
    ...(failing.length === 0 ? [readyLine(kernel)] : notReadyLines(kernel, failing)),
    '',
    ...pluginLines(kernel),
    '',
    ...(await networkLines(kernel, failing)),
    '',
    ...walletLines(kernel),
    '',
    bold('Certificates'),
    `  ${settings.ssl.certsDir}  ${dim('a bot needs ca_cert.pem, client_cert.pem and client_key.pem')}`,
    ...kernel.warnings.map((warning) => `\n${bad('!')} ${warning}`),
    '',
    ...examples(kernel, settings),
    '',
    dim(`Read the interface at /docs. \`${command} dashboard\` opens the page for people. Ctrl-C stops the server.`),
    '',
  ].join('\n')
}

/** Supervisors and tests wait for these words. It names the plugins that are not there yet, or not at all: others do without them. */
export function readyLine({ url, startedAt, services: { registry } }: Kernel): string {
  const named = (state: 'pending' | 'refused') => registry.plugins.filter((each) => each.state === state).map(({ name }) => name)
  const [starting, refused] = [named('pending'), named('refused')]
  const rest = [
    ...(starting.length > 0 ? [`still being started: ${starting.join(', ')}`] : []),
    ...(refused.length > 0 ? [bad(`refused: ${refused.join(', ')}`)] : []),
  ]
  return [`${bold('Sluice')} is ready at ${bold(url)} ${dim(`(${secondsSince(startedAt)} s)`)}`, ...rest].join('; ')
}

const secondsSince = (startedAt: number): string => ((performance.now() - startedAt) / 1000).toFixed(1)

/** What is missing, why, and what to do about it. */
function notReadyLines({ url, startedAt }: Kernel, failing: readonly FailingPart[]): string[] {
  return [
    `${bold('Sluice')} is up at ${bold(url)} ${dim(`(${secondsSince(startedAt)} s)`)}, ${bad('but not ready')}: what it needs is missing`,
    ...failing.flatMap(({ part, reason, remedy }) => [
      `  ${bad('✗')} ${part}: ${reason}`,
      ...(remedy === undefined ? [] : [`    → ${remedy}`]),
    ]),
    dim(`  It says here when it is ready; \`${command} health --ready\` asks it.`),
  ]
}

/** @param only those with these names */
export function pluginLines({ services, interfaceUrls }: Kernel, only?: ReadonlySet<string>): string[] {
  const plugins = services.registry.plugins.filter(({ name }) => only?.has(name) ?? true)
  const loaded = plugins.filter(({ state }) => state === 'loaded')
  const refused = plugins.filter(({ state }) => state === 'refused')
  const pending = plugins.filter(({ state }) => state === 'pending')
  const chains = loaded.filter(({ kind }) => kind === 'chain').map(({ name }) => name)
  const connectors = loaded.filter(({ kind }) => kind === 'connector')
  const rows = [
    ...(chains.length > 0 ? [{ name: `${chains.length} ${chains.length === 1 ? 'chain' : 'chains'}`, what: '', where: chains }] : []),
    ...connectors.map(({ name, trading_type, available_networks }) => ({
      name,
      what: trading_type.join(' '),
      where: available_networks.map(({ chain }) => chain),
    })),
    ...loaded
      .filter(({ kind }) => kind === 'interface')
      .map(({ name }) => ({ name, what: 'interface', where: [interfaceUrls[name] ?? 'off: it has no port'] })),
  ]
  const nameWidth = Math.max(0, ...rows.map(({ name }) => name.length), ...[...refused, ...pending].map(({ name }) => name.length))
  const whatWidth = Math.max(0, ...rows.map(({ what }) => what.length))
  return [
    bold('Plugins'),
    ...rows.map(({ name, what, where }) => `  ${good('✓')} ${name.padEnd(nameWidth)}  ${what.padEnd(whatWidth)}  ${dim(where.join(', '))}`),
    ...pending.map(({ name, folder }) => `  ${dim('…')} ${name.padEnd(nameWidth)}  is being started  ${dim(folder)}`),
    ...refused.map(({ name, reason, folder }) => `  ${bad('✗')} ${name.padEnd(nameWidth)}  refused: ${reason ?? ''}  ${dim(folder)}`),
  ]
}

/** Asks only the required networks; the server connects to the others when they are used. */
async function networkLines({ services: { registry: directory } }: Kernel, failing: readonly FailingPart[]): Promise<string[]> {
  const needed = directory.networks.filter(({ required }) => required)
  const others = directory.networks.filter(({ required }) => !required)
  const rows = await networkStatuses(needed, AbortSignal.timeout(deadlineMs))
  const width = Math.max(0, ...rows.map(({ chain, network }) => chain.length + network.length + 1))
  return [
    bold('Networks'),
    ...rows.map(({ chain, network, currentBlockNumber, currentBlockSeconds, rpcUrl, error }) => {
      const name = `${chain}/${network}`.padEnd(width)
      // Not ready, or later than the summary waits.
      const told = failing.some(({ part }) => part === `${chain}/${network}`)
      if (error !== undefined || told) return `  ${bad('✗')} ${name}  ${dim(told ? 'not ready, see above' : (error ?? ''))}`
      return `  ${good('✓')} ${name}  block ${currentBlockNumber}, ${currentBlockSeconds} s ago  ${dim(rpcUrl)}`
    }),
    ...(others.length > 0
      ? [`  ${dim('-')} ${others.length} more  ${dim('connected when they are first used; /network/status asks them all')}`]
      : []),
  ]
}

function walletLines({ services }: Kernel): string[] {
  const wallets = services.wallets.all()
  if (wallets.length === 0) return [bold('Wallets'), `  none; add one with \`${command} wallet add\``]
  // The devnet's are the same on each of its chains with the same kind of keys.
  const chainsOf = (address: string) => wallets.flatMap((each) => (each.devnet && each.address === address ? [each.chain] : []))
  return [
    bold('Wallets'),
    ...wallets
      .filter(({ chain, address, devnet }) => !devnet || chain === chainsOf(address)[0])
      .map(({ chain, address, label, devnet }) => {
        const others = devnet ? chainsOf(address).slice(1) : []
        const also = others.length > 0 && `also on ${others.join(', ')}`
        const notes = devnet ? [label, also, 'devnet only: everybody knows its key'] : [label]
        return `  ${chain}  ${address}  ${dim(notes.filter(Boolean).join(', '))}`
      }),
  ]
}

/** Commands to paste. With a devnet they make a quote, a trade, orders and a position. */
function examples({ url, services: { registry, wallets }, devnet, sites }: Kernel, { ssl }: Settings): string[] {
  const certs = path.relative(process.cwd(), ssl.certsDir) || '.'
  const curl = `curl --cacert ${certs}/ca_cert.pem --cert ${certs}/client_cert.pem --key ${certs}/client_key.pem -w '\\n'`
  const json = `-H 'Content-Type: application/json'`
  const wallet = wallets.all().find((each) => each.devnet)
  const tryIt = [bold('Try it'), `  ${curl} ${url}/network/status`]
  if (!devnet || !wallet) return tryIt

  const { chain, address } = wallet
  /** Where a connector of the type is on a chain's local network; that on most chains is the best known one. */
  const venueOf = (type: TradingType, on = chain) => {
    const isThere = (each: { chain: string; networks: readonly string[] }) => each.chain === on && each.networks.includes('local')
    const [best] = registry.connectors
      .filter(({ trading_type, available_networks }) => trading_type.includes(type) && available_networks.some(isThere))
      .toSorted((a, b) => b.available_networks.length - a.available_networks.length)
    return best && { chain: on, network: 'local', connector: best.name }
  }
  const post = (target: string, body: object) => `-d '${JSON.stringify(body)}' ${url}${target}`
  const lines: string[] = []
  const show = (what: string, note: string, ...commands: readonly string[]) =>
    lines.push(...(lines.length > 0 ? [''] : []), `${bold(what)}${note && ` ${dim(note)}`}`, ...commands.map((each) => `  ${each}`))

  const amm = venueOf('AMM')
  if (amm) {
    const query = new URLSearchParams({ ...amm, base: 'WETH', quote: 'USDC', amount: '1', side: 'SELL' })
    show('A quote', '', `${curl} '${url}/amm/price?${query.toString()}'`)
    const trade = { ...amm, address, base: 'ETH', quote: 'USDC', amount: '1', side: 'SELL' }
    show('A trade', '', `${curl} ${json} ${post('/amm/trade', trade)}`)
  }
  const order = { side: 'BUY', orderType: 'LIMIT', amount: '1' }
  for (const { chain: on, impl } of registry.networks.filter(({ network, chain: site }) => network === 'local' && sites.includes(site))) {
    const books = venueOf('CLOB', on)
    const market = `${impl.nativeCurrency.symbol}-USDC`
    const note = `in a book of ${on}/local, which starts with its first request`
    const own = wallets.all().find((each) => each.devnet && each.chain === on)
    if (impl.altchain && own)
      show(
        'A token account',
        `on ${on}/local, which starts with its first request`,
        `${curl} ${json} ${post('/altchain/create-token', { chain: on, network: 'local', address: own.address, tokenSymbol: 'FEES' })}`,
      )
    if (books) show('An order', note, `${curl} ${json} ${post('/clob/orders', { ...books, address, market, ...order, price: '30' })}`)
  }

  const [books, perpetuals] = [venueOf('CLOB'), venueOf('PERP_AMM')]
  const steps = (...posts: readonly string[]) => posts.map((each) => `ask ${each}`).join(' && ')
  const approve = (venue: { connector: string }, amount: string) =>
    post('/evm/approve', { chain, network: 'local', address, spender: venue.connector, token: 'USDC', amount })
  const more: string[] = []
  if (books) {
    const bid = post('/clob/orders', { ...books, address, market: 'WETH-USDC', ...order, price: '2900' })
    more.push(dim(`an order in a book of ${chain}/local`), steps(approve(books, '2900'), bid))
  }
  if (perpetuals) {
    const deposit = post('/perpAMM/deposit', { ...perpetuals, address, token: 'USDC', amount: '1000' })
    const short = { base: 'ETH', quote: 'USD', side: 'SHORT', amount: '1', margin: '620', leverage: '5' }
    const open = post('/perpAMM/open', { ...perpetuals, address, ...short })
    more.push(dim(`a margin account and a perpetual position on ${chain}/local`), steps(approve(perpetuals, '1000'), deposit, open))
  }
  const ranges = venueOf('AMM_RANGE')
  if (ranges) {
    const approval = { chain, network: 'local', address, spender: `${ranges.connector}/positions`, token: 'USDC', amount: '3000' }
    const amounts = { fee: 'LOW', amount0: '1', amount1: '3000', lowerPrice: '2700', upperPrice: '3300' }
    const add = post('/amm/liquidity/add', { ...ranges, address, token0: 'ETH', token1: 'USDC', ...amounts })
    more.push(dim(`liquidity between two prices on ${chain}/local`), steps(post('/evm/approve', approval), add))
  }
  for (const on of sites) {
    const [margin, perpetualBooks] = [venueOf('MARGIN_CLOB', on), venueOf('PERP_CLOB', on)]
    if (margin) {
      const query = new URLSearchParams({ ...margin, address }).toString()
      more.push(dim(`a margin account on ${on}/local`), `ask '${url}/clob/margin/account?${query}'`)
    }
    const market = { market: 'ETH-USD', side: 'LONG', orderType: 'MARKET', amount: '0.1' }
    if (perpetualBooks)
      more.push(
        dim(`a perpetual position in a book of ${on}/local`),
        steps(post('/clob/perp/orders', { ...perpetualBooks, address, ...market })),
      )
  }
  if (more.length > 0) show('More', 'after this line', `ask() { ${curl} ${json} "$@"; }`, ...more)
  return lines.length > 0 ? lines : tryIt
}
