// What a spender may take of a wallet.
import { add } from 'sluice/decimal'
import { interfacePath, Type, type InterfacePath } from 'sluice/interface'
import { cutAmount } from './amounts.ts'
import { listedTokens, walletFields } from './chains.ts'
import { spenderOf } from './connectors.ts'
import { networkFields, requireEthereum, type HummingbotConfig, type Networks } from './networks.ts'
import { canonical } from './numbers.ts'
import { feeOf } from './poll.ts'
import { signedAnswer, signOnce, successOf, windowsOf } from './signed.ts'
import { walletKey, walletOf } from './wallets.ts'

const spender = Type.String({ minLength: 1, maxLength: 256 })

export function allowancePaths(networks: Networks, config: HummingbotConfig): InterfacePath[] {
  return [
    interfacePath({
      method: 'POST',
      path: '/chains/ethereum/allowances',
      summary: 'What a spender may take of a wallet.',
      permission: 'read',
      request: Type.Object({ ...walletFields, chain: networkFields.chain, spender }),
      response: Type.Object({ spender: Type.String(), approvals: Type.Record(Type.String(), Type.String()) }),
      async answer(request, call) {
        const on = networks.of({ ...request, chain: request.chain ?? 'ethereum' })
        requireEthereum(on, 'its exchanges need no approval')
        const address = await walletOf(request.address, on.chain, networks, call)
        const { tokens = [] } = request
        const tokenSymbols = tokens.length > 0 ? tokens : (await listedTokens(on, call)).map(({ symbol }) => symbol)
        const answer = await call.call('EVMAllowances', { ...on.own, address, spender: spenderOf(request.spender), tokenSymbols })
        return { spender: answer.spender, approvals: answer.approvals }
      },
    }),
    interfacePath({
      method: 'POST',
      path: '/chains/ethereum/approve',
      summary: 'Sets what a spender may take of a wallet; all without an amount.',
      permission: 'trade',
      request: Type.Object({
        ...networkFields,
        address: Type.Optional(Type.String({ maxLength: 256 })),
        spender,
        token: Type.String({ minLength: 1, maxLength: 256 }),
        amount: Type.Optional(Type.String()),
      }),
      response: signedAnswer(
        Type.Object({
          tokenAddress: Type.String(),
          spender: Type.String(),
          amount: Type.String(),
          nonce: Type.Number(),
          fee: Type.String(),
        }),
      ),
      async answer(request, call) {
        const untilMs = performance.now() + config.receiptSeconds * 1000
        const on = networks.of({ ...request, chain: request.chain ?? 'ethereum' })
        requireEthereum(on, 'its exchanges need no approval')
        const approval = {
          ...on.own,
          address: await walletOf(request.address, on.chain, networks, call),
          spender: spenderOf(request.spender),
          token: request.token,
          ...(request.amount !== undefined && { amount: canonical(request.amount) }),
        }
        return call.once(
          { fields: { approve: { ...approval, address: walletKey(approval.address) } }, ...windowsOf(config, config.receiptSeconds) },
          async () => {
            const { amount, token } = approval
            // What is less than a unit is no approval of 0, which takes back what there is.
            return amount === undefined ? approval : { ...approval, amount: await cutAmount(amount, { field: 'amount', token }, on, call) }
          },
          async (key, prepared) => {
            const signed = await signOnce(() => call.call('EVMApprove', prepared, { key }), call)
            const { txHash: signature, tokenAddress, amount, nonce } = signed
            let fee: string | undefined = '0'
            // With Permit2 there are two: the last one alone lets nobody take anything.
            for (const { txHash } of signed.transactions ?? [signed]) {
              const found = await successOf(txHash, { on, call, untilMs })
              if (!found) return { signature }
              const paid = feeOf(found.txReceipt)
              fee = fee === undefined || paid === undefined ? undefined : add(fee, paid)
            }
            if (fee === undefined) return { signature, status: 1 as const }
            return { signature, status: 1 as const, data: { tokenAddress, spender: signed.spender, amount, nonce, fee } }
          },
        )
      },
    }),
  ]
}
