// What is asked of a chain: its status, its gas, and what a wallet holds on it.
import { interfacePath, Type, type InterfaceCall, type InterfacePath } from 'sluice/interface'
import { swapProvider } from './config.ts'
import { networkFields, type NamedNetwork, type Networks } from './networks.ts'
import { numberBelow } from './numbers.ts'
import { walletOf } from './wallets.ts'

const onChain = { ...networkFields, chain: Type.String({ maxLength: 64 }) }
export const walletFields = {
  ...onChain,
  address: Type.Optional(Type.String()),
  tokens: Type.Optional(Type.Array(Type.String(), { maxItems: 1000 })),
}

export function chainPaths(networks: Networks): InterfacePath[] {
  return [
    interfacePath({
      method: 'GET',
      path: '/chains/:chain/status',
      summary: 'The newest block of a network.',
      permission: 'read',
      request: Type.Object(onChain),
      response: Type.Object({
        chain: Type.String(),
        network: Type.String(),
        rpcUrl: Type.String(),
        rpcProvider: Type.String(),
        currentBlockNumber: Type.Number(),
        nativeCurrency: Type.String(),
        swapProvider: Type.String(),
      }),
      async answer(request, { call }) {
        const { chain, network, own } = networks.of(request)
        const [status] = await call('NetworkStatus', own)
        const { rpcUrl = '', currentBlockNumber = -1, nativeCurrency = '' } = status ?? {}
        return { chain, network, rpcUrl, rpcProvider: 'url', currentBlockNumber, nativeCurrency, swapProvider }
      },
    }),
    interfacePath({
      method: 'GET',
      path: '/chains/:chain/estimate-gas',
      summary: 'What a typical swap costs.',
      permission: 'read',
      request: Type.Object(onChain),
      response: Type.Object({
        fee: Type.Number(),
        feeAsset: Type.String(),
        feePerComputeUnit: Type.Number(),
        denomination: Type.String(),
        computeUnits: Type.Number(),
        timestamp: Type.Number(),
      }),
      async answer(request, { call }) {
        const { chain, own } = networks.of(request)
        const gas = await call('AMMEstimateGas', { ...own, connector: 'any' })
        return {
          fee: numberBelow(gas.gasCost),
          feeAsset: gas.gasPriceToken,
          feePerComputeUnit: gas.gasPrice,
          denomination: chain === 'solana' ? 'lamports' : 'gwei',
          computeUnits: gas.gasLimit,
          timestamp: gas.timestamp,
        }
      },
    }),
    interfacePath({
      method: 'POST',
      path: '/chains/:chain/balances',
      summary: 'What a wallet holds of these tokens; without them, all of the network’s list that it holds.',
      permission: 'read',
      request: Type.Object(walletFields),
      response: Type.Object({ balances: Type.Record(Type.String(), Type.Number()) }),
      async answer(request, call) {
        const on = networks.of(request)
        const address = await walletOf(request.address, on.chain, networks, call)
        const { tokens = [] } = request
        return { balances: tokens.length > 0 ? await balancesOf(tokens, address, on, call) : await allBalances(address, on, call) }
      },
    }),
  ]
}

async function balancesOf(tokens: readonly string[], address: string, { own }: NamedNetwork, { call }: InterfaceCall) {
  const { balances } = await call('NetworkBalances', { ...own, address, tokenSymbols: [...new Set(tokens)] })
  return Object.fromEntries(Object.entries(balances).map(([token, amount]) => [token, numberBelow(amount)]))
}

/** Of two tokens with one symbol, the first of the list has it. */
async function allBalances(address: string, on: NamedNetwork, call: InterfaceCall): Promise<Record<string, number>> {
  const [status] = await call.call('NetworkStatus', on.own)
  const listed = await listedTokens(on, call)
  const native = status?.nativeCurrency
  const held: Record<string, number> = {}
  for (let from = 0; from < listed.length || from === 0; from += 900) {
    const part = listed.slice(from, from + 900)
    const names = [...(native !== undefined && from === 0 ? [native] : []), ...part.map((token) => token.address)]
    const amounts = await balancesOf(names, address, on, call)
    const [coin] = native === undefined ? [] : [amounts[native]]
    if (native !== undefined && coin !== undefined) held[native] = coin
    for (const token of part) {
      const amount = amounts[token.address]
      if (amount !== undefined && amount > 0 && held[token.symbol] === undefined) held[token.symbol] = amount
    }
  }
  return held
}

export const listedTokens = ({ own }: NamedNetwork, { call }: InterfaceCall) => call('NetworkTokens', own)
