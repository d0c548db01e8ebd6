import { constants } from 'node:os'
import path from 'node:path'
import { inspect, styleText } from 'node:util'
import { Command } from 'commander'
import { ConfigError, StartError } from '../config/problems.ts'
import type { Flags, Settings } from '../config/settings.ts'
import type { TradingType } from '../contracts/index.ts'
import { refuseCoreFiles } from '../core-files.ts'
import { networkStatuses } from '../handlers/network.ts'
import type { Kernel } from '../kernel.ts'
import { command } from '../layout.ts'
import { limitCompilers, limitHeap } from './memory.ts'
import { complain, say } from './output.ts'

const endingSignals = ['SIGINT', 'SIGTERM'] as const
/** They would end the process without a word, or, as SIGUSR1, open a debugger. */
const ignoredSignals = ['SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const

interface StartOptions {
  host?: string
  port?: string
  devnet?: boolean
  only?: string
  logLevel?: string
}

/** `sluice start`: starts the server, prints a summary, and stops the server in order at SIGINT and SIGTERM. */
export function startCommand(settingsOf: (flags?: Flags) => Settings): Command {
  return new Command('start')
    .description('start the server')
    .option('--host <address>', 'listen on this address (server.host)')
    .option('--port <number>', 'listen on this port (server.port)')
    .option('--devnet', 'with the local chain, on which everything can be tried (devnet.enabled)')
    .option('--no-devnet', 'without the local chain')
    .option('--only <chains>', 'with ethereum, or more chains with commas between them, in place of all local networks (devnet.only)')
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent (log.level)')
    .action(async ({ host, port, devnet, only, logLevel }: StartOptions) => {
      const flags = {
        ...(host !== undefined && { 'server.host': host }),
        ...(port !== undefined && { 'server.port': port }),
        ...(devnet !== undefined && { 'devnet.enabled': devnet }),
        ...(only !== undefined && { 'devnet.only': only }),
        ...(logLevel !== undefined && { 'log.level': logLevel }),
      }
      await start(() => settingsOf(flags))
    })
}

/** How long the parts may take to stop after the requests were drained. */
const stopSeconds = 3.5

async function start(readSettings: () => Settings): Promise<void> {
  let settings = readSettings()
  goOnUnheard()
  limitCompilers()
  // Loaded here, so that other commands do not load a server.
  const [{ startKernel }, { closeToOthers, makeConf, refuseBeforeStart }] = await Promise.all([
    import('../kernel.ts'),
    import('../home.ts'),
  ])
  try {
    const stopping = new AbortController()
    const duringStart = endOnSignal()
    await refuseBeforeStart(settings)
    if (await closeToOthers(settings.data.dir)) say(`${settings.data.dir} was open to every user: it is not any more.`)
    if (await makeConf(settings)) {
      say(`Made the default configuration in ${settings.confDir}.`)
      settings = readSettings()
    }
    const exposed = refuseCoreFiles()
    if (exposed !== undefined) complain(`Warning: ${exposed}.`)
    const kernel = await startKernel(settings, { print: say })
    duringStart.over()
    onSignals(stopping, kernel.log)
    limitHeap()
    const late = new Set(kernel.services.registry.plugins.filter(({ state }) => state === 'pending').map(({ name }) => name))
    say(await summary(kernel, settings))
    if (late.size > 0)
      void kernel.pluginsLoaded.then(() => {
        if (!stopping.signal.aborted) say(pluginLines(kernel, late).join('\n'))
      })
    if (!stopping.signal.aborted) await new Promise((resolve) => stopping.signal.addEventListener('abort', resolve, { once: true }))
    say(`\n${String(stopping.signal.reason)}: finishing what is under way (at most ${settings.server.drainSeconds} s) ...`)
    endAtLast(settings.server.drainSeconds)
    await kernel.stop()
    say('Stopped.')
    process.exit(0)
  } catch (error) {
    if (error instanceof ConfigError || error instanceof StartError) complain(`\nSluice did not start. ${error.message}`)
    else complain(inspect(error))
    process.exit(1)
  }
}

/** What the server prints is for people. Where it cannot be written (a full disk, a closed terminal), the server goes on. */
function goOnUnheard(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

/** Ends the process where a part hangs (a disk, a database, a plugin). Nothing is lost: open transactions are in the journal. */
function endAtLast(drainSeconds: number): void {
  const end = () => {
    complain('A part did not stop in time, so the process ends without it. Open transactions are in the journal.')
    process.exit(1)
  }
  setTimeout(end, (drainSeconds + stopSeconds) * 1000).unref()
}

/**
 * Until the server is up, a signal ends the process at once: the start writes files whole or not at all, and child processes end with this
 * one.
 */
function endOnSignal(): { over(): void } {
  const signals = [...endingSignals, 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, endAtOnce)
  return { over: () => signals.forEach((signal) => process.off(signal, endAtOnce)) }
}

function endAtOnce(signal: NodeJS.Signals): never {
  complain(`\n${signal}: ended before the server was up.`)
  process.exit(128 + constants.signals[signal])
}

/** The first signal stops the server in order; a second SIGINT ends the process at once. */
function onSignals(stopping: AbortController, log: Kernel['log']): void {
  for (const signal of endingSignals) {
    process.on(signal, () => {
      if (stopping.signal.aborted && signal === 'SIGINT') process.exit(130)
      stopping.abort(signal)
    })
  }
  for (const signal of ignoredSignals) {
    process.on(signal, () =>
      log.warn(`${signal} ignored: changed certificates are loaded without it, other changes need a restart; SIGTERM stops the server`),
    )
  }
}

/** A network that does not answer in this time is shown as down. */
const deadlineMs = 1_500

const bold = (text: string) => styleText('bold', text)
const dim = (text: string) => styleText('dim', text)
const good = (text: string) => styleText('green', text)
const bad = (text: string) => styleText('red', text)

/** The summary that is printed once the server is up. */
async function summary(kernel: Kernel, settings: Settings): Promise<string> {
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

/** @param only those with these names */
function pluginLines({ services }: Kernel, only?: ReadonlySet<string>): string[] {
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
async function networkLines({ services: { registry: directory } }: Kernel): Promise<string[]> {
  const needed = directory.networks.filter(({ required }) => required)
  const others = directory.networks.filter(({ required }) => !required)
  const rows = await networkStatuses(needed, AbortSignal.timeout(deadlineMs))
  const width = Math.max(0, ...rows.map(({ chain, network }) => chain.length + network.length + 1))
  return [
    bold('Networks'),
    ...rows.map(({ chain, network, currentBlockNumber, currentBlockSeconds, rpcUrl, error }) => {
      const name = `${chain}/${network}`.padEnd(width)
      if (error !== undefined) return `  ${bad('✗')} ${name}  ${dim(`no node answers; its nodes are set in conf/chains/${chain}.yml`)}`
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
