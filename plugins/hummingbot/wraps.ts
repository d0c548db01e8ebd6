// The native coin as a token, and back.
import { badFields, interfacePath, Type, type InterfaceCall, type InterfacePath } from 'sluice/interface'
import { coinDecimals, cutTo } from './amounts.ts'
import { networkFields, requireEthereum, type HummingbotConfig, type NamedNetwork, type Networks } from './networks.ts'
import { canonical } from './numbers.ts'
import { feeOf } from './poll.ts'
import { signedAnswer, signOnce, successOf, windowsOf } from './signed.ts'
import { walletKey, walletOf } from './wallets.ts'

export const wrapPaths = (networks: Networks, config: HummingbotConfig): InterfacePath[] =>
  (['wrap', 'unwrap'] as const).map((how) =>
    interfacePath({
      method: 'POST',
      path: `/chains/:chain/${how}`,
      summary:
        how === 'wrap' ? 'Turns native coins into their token.' : 'Turns the token back into native coins; all of it without an amount.',
      permission: 'trade',
      request: Type.Object({
        ...networkFields,
        chain: Type.String({ maxLength: 64 }),
        address: Type.Optional(Type.String({ maxLength: 256 })),
        amount: Type.Optional(Type.String()),
      }),
      response: signedAnswer(
        Type.Object({
          fee: Type.String(),
          amount: Type.String(),
          wrappedAddress: Type.String(),
          nativeToken: Type.String(),
          wrappedToken: Type.String(),
        }),
      ),
      async answer({ chain, amount, ...request }, call) {
        const untilMs = performance.now() + config.receiptSeconds * 1000
        const on = networks.of({ ...request, chain })
        requireEthereum(on, `there is nothing to ${how} before a swap, which takes and pays the coin itself`)
        const address = await walletOf(request.address, on.chain, networks, call)
        const asked = amount === undefined ? undefined : canonical(amount)
        return call.once(
          { fields: { how, on: on.chainNetwork, address: walletKey(address), amount: asked }, ...windowsOf(config, config.receiptSeconds) },
          async () => {
            const of = { field: 'amount', token: 'the native coin' }
            return {
              ...on.own,
              address,
              amount: asked === undefined ? await allOf(how, address, on, call) : cutTo(coinDecimals, asked, of),
            }
          },
          async (key, transfer) => {
            const signed = await signOnce(() => call.call(how === 'wrap' ? 'EVMWrap' : 'EVMUnwrap', transfer, { key }), call)
            const { txHash: signature, tokenAddress, gasPriceToken } = signed
            const found = await successOf(signature, { on, call, untilMs })
            if (!found) return { signature }
            const fee = feeOf(found.txReceipt)
            const wrappedToken = await symbolOf(tokenAddress, on, call)
            if (fee === undefined || wrappedToken === undefined) return { signature, status: 1 as const }
            const data = { fee, amount: signed.amount, wrappedAddress: tokenAddress, nativeToken: gasPriceToken, wrappedToken }
            return { signature, status: 1 as const, data }
          },
        )
      },
    }),
  )

/**
 * What a wallet has of the wrapped coin. It is known by its symbol here, and the endpoint unwraps the true one: of a list that gives that symbol to
 * another token this is a wrong amount, and nothing else.
 */
async function allOf(how: 'wrap' | 'unwrap', address: string, { own }: NamedNetwork, { call }: InterfaceCall): Promise<string> {
  const [status] = how === 'wrap' ? [] : await call('NetworkStatus', own)
  const symbol = `W${status?.nativeCurrency ?? ''}`
  const held = status ? (await call('NetworkBalances', { ...own, address, tokenSymbols: [symbol] })).balances[symbol] : undefined
  if (held !== undefined) return held
  throw badFields([{ field: 'amount', problem: 'is required, such as 0.5' }])
}

/** Its transaction is mined: trouble here is no answer. */
const symbolOf = (token: string, { own }: NamedNetwork, { call }: InterfaceCall): Promise<string | undefined> =>
  call('NetworkToken', { ...own, token }).then(
    ({ symbol }) => symbol,
    () => undefined,
  )
