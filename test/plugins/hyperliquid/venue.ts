import { getBytes, Signature, Wallet } from 'ethers'
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Json, BroadcastResult, Sealed, VenuePlan } from '../../../core/contracts/index.ts'
import chain from '../../../plugins/hyperliquid-chain/index.ts'
import hyperliquid from '../../../plugins/hyperliquid/index.ts'
import type { HyperliquidConfig } from '../../../plugins/hyperliquid/exchange.ts'
import { startExchange, type ExchangeOptions } from '../../../tools/hyperliquid-simulator/exchange/start-exchange.ts'

export const at = { signal: new AbortController().signal }
const defaults = parse(readFileSync(new URL('../../../plugins/hyperliquid/defaults.yml', import.meta.url), 'utf8'))

/** The token as the chain lists it. */
export const usdc = { symbol: 'USDC', address: '0x2B3370eE501B4a559b57D449569354196457D8Ab', decimals: 6 }

/** One step that was sent. */
export interface SentStep {
  reception: BroadcastResult
  sealed: Sealed
  sequence: Json
  step: Json
}

/** The connector on a simulated exchange, started. */
export async function startVenue(settings: Partial<HyperliquidConfig> = {}, rules: ExchangeOptions = {}) {
  const exchange = await startExchange({ testnet: true, ...rules })
  const urls = { apiUrl: exchange.apiUrl, wsUrl: exchange.wsUrl }
  const config: HyperliquidConfig = {
    ...defaults,
    requestWeightPerMinute: 1_000_000,
    networks: { mainnet: urls, testnet: urls },
    ...settings,
  }
  const log = { info() {}, warn() {} }
  const place = { chain: 'hyperliquid', network: 'testnet', log }
  // The connector reads nothing from its chain here.
  const { reader, nativeCurrency } = chain.create({ ...place, config: {}, meter: { rpc() {} } })
  const venue = { ...place, config, contracts: defaults.contractAddresses.testnet, reader, nativeCurrency, tokens: [usdc] }
  const connector = hyperliquid.create(venue)
  const { CLOB, PERP_CLOB, MARGIN_CLOB, actions } = connector
  if (!actions) throw new Error('it has no actions')
  await connector.start?.(at.signal)

  /** Signs each step with a sequence of its own and sends it, as core does. */
  async function carryOut(
    plan: VenuePlan,
    wallet: Pick<Wallet, 'address' | 'signTypedData'>,
    given?: readonly Json[],
  ): Promise<readonly SentStep[]> {
    const { rail } = actions!
    const { prepared, synced } = await rail.check(plan.steps, [], wallet.address, { feeOverrides: {} }, at)
    const sequences = given ?? rail.claim(synced, [], prepared.length)
    const receptions: SentStep[] = []
    for (const [index, { step, fees }] of prepared.entries()) {
      const signable = rail.draft({ step, fees }, sequences[index] ?? null)
      const { domain, types, message } = JSON.parse(new TextDecoder().decode(signable.bytes))
      const signature = Signature.from(await wallet.signTypedData(domain, types, message))
      const sealed = rail.seal(signable, getBytes(signature.serialized))
      receptions.push({ reception: await rail.send(sealed, at), sealed, sequence: sequences[index] ?? null, step })
    }
    return receptions
  }

  return {
    exchange,
    /** The exchange that the connector was created from. */
    venue,
    CLOB,
    PERP_CLOB,
    MARGIN_CLOB,
    actions,
    carryOut,
    async stop() {
      await connector.stop?.()
      await exchange.stop()
    },
  }
}

export type TestVenue = Awaited<ReturnType<typeof startVenue>>

/** The exchange's immediate answer. */
export function landedOf(reception: BroadcastResult | undefined): { ok: boolean; receipt: Json; reason?: string } {
  if (reception?.is !== 'accepted' || !reception.landed) throw new Error(`not carried out: ${JSON.stringify(reception)}`)
  return reception.landed
}

export function only<T>(all: readonly T[]): T {
  const [one, ...more] = all
  if (one === undefined || more.length > 0) throw new Error(`${all.length} instead of one`)
  return one
}
