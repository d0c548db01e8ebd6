import { expect } from 'chai'
import type { Address } from '@solana/kit'
import { getTokenDecoder } from '@solana-program/token'
import { associatedAddress } from '../../../kits/solana/index.ts'
import { pair as ofRelease, startAmmSite, type AmmSite } from './amm-site.ts'

const pair = { ...ofRelease, connector: 'strangeswap' }
const confirmed = { txState: 'CONFIRMED', txStatus: 1 }

/** What its plans do where the amount that is sold ends with a digit. Of its fills it says that twice as much came. */
const hostile = `
import type { AMM, Plan } from 'sluice/plugin'
import { tokenProgram, type Solana } from 'sluice/solana'
const thief = 'SysvarC1ock11111111111111111111111111111111'
const hostile = (program: string, amm: AMM<Solana>): AMM<Solana> => ({
  ...amm,
  fill(receipt, memo) {
    const fill = amm.fill(receipt, memo)
    return fill && { ...fill, amountOutRaw: 2n * fill.amountOutRaw }
  },
  swap(quote, terms): Plan<Solana> {
    const plan = amm.swap(quote, terms)
    const [step] = plan.steps
    const called = step.instructions.findIndex((each) => each.program === program)
    const call = step.instructions[called]
    if (!call) return plan
    const [own, vaultOut] = [call.accounts[3]!, call.accounts[6]!]
    const { amountRaw, tokenIn } = quote.swap
    const withCall = (...calls: (typeof call)[]) => ({ ...plan, steps: [{ ...step, instructions: step.instructions.toSpliced(called, 1, ...calls) }] as const })
    switch (amountRaw % 10n) {
      // Another one than the wallet gets what is bought.
      case 1n:
        return withCall({ ...call, accounts: call.accounts.with(4, vaultOut) })
      // It may take more than the trade needs.
      case 2n:
        return { ...plan, needs: [{ is: 'balance', token: tokenIn.address, amountRaw: 2n * amountRaw }] }
      // It moves tokens by itself: Transfer, u64.
      case 3n: {
        const data = Buffer.concat([Buffer.of(3), Buffer.from([1, 0, 0, 0, 0, 0, 0, 0])]).toString('base64')
        const accounts = [own, { ...own, address: thief }, { address: terms.recipient, writable: false, signer: true }]
        return withCall(call, { program: tokenProgram, accounts, data })
      }
      // It calls a program that is not its own.
      case 4n:
        return withCall(call, { ...call, program: thief })
      // It has a new account of its own.
      case 5n:
        return { ...plan, steps: [{ ...step, signers: [thief] }] }
    }
    return plan
  },
})
`

describe('a plugin of a third party on Solana, contained', function () {
  this.timeout(300_000)
  let site: AmmSite
  before(async () => {
    site = await startAmmSite({
      contained: (content, file) =>
        file === 'index.ts' ? hostile + content.replace(/accountsAMM\((.*?)\}\)/, 'hostile(program, $&)') : content,
    })
  })
  after(() => site?.stop())

  const price = async (fields: object) => (await site.client.post('/amm/price', { ...pair, amount: '2', side: 'SELL', ...fields })).body
  const accountOf = ({ address, program }: { address: string; program: string }) => associatedAddress(site.wallets[0], address, program)
  const sent = () => new Set(site.solana.sent.map(({ signature }) => signature as string)).size

  it('runs in a process of its own', () => {
    expect(site.server.kernel.plugins.refused.map(({ reason }) => reason)).to.deep.equal([])
    const found = site.server.kernel.plugins.loaded.find(({ name }) => name === 'strangeswap')
    expect(found).to.include({ tier: 'contained' }).and.to.have.property('host')
  })

  for (const side of ['SELL', 'BUY'] as const)
    it(`carries out a ${side} as quoted, to the unit, by the receipt, and its program gets no signature of the wallet`, async () => {
      const quoted = await price({ side })
      const account = await accountOf(side === 'SELL' ? site.base : site.solana.mints.USDC)
      const answer = await site.client.post('/amm/trade', {
        ...pair,
        address: site.wallets[0],
        amount: '2',
        side,
        limitPrice: quoted.price,
      })
      expect(answer.status, answer.text).to.equal(200)
      const { fill } = await site.polled(answer.body.txHash, confirmed)
      expect(fill, JSON.stringify(fill)).to.include({ price: quoted.price })
      const { accounts, signers } = calledBy(site)
      expect(accounts).to.not.include(site.wallets[0])
      expect(signers).to.have.length(2).and.include(site.wallets[0])
      const after = site.solana.svm.getAccount(account as Address)
      if (!after.exists) throw new Error('The account is gone.')
      expect(getTokenDecoder().decode(after.data)).to.deep.include({ delegate: { __option: 'None' }, delegatedAmount: 0n })
    })

  const refused: readonly [what: string, amount: string, reason: RegExp][] = [
    ['what it buys would go to somebody else', '2.000000001', /recipient|would fail/],
    [
      'its program could take more than the trade needs',
      '2.000000002',
      /moves 4000000004 of .* out of the wallet, where the request allows 2000000002/,
    ],
    ['it moves tokens by itself', '2.000000003', /instruction of the Token program/],
    ["it calls another program than the plugin's own", '2.000000004', /calls Sysvar.*, which this request does not allow/],
    ['it has new accounts of its own', '2.000000005', /new accounts of its own/],
  ]
  for (const [what, amount, reason] of refused)
    it(`signs nothing where ${what}`, async () => {
      const [before, quoted] = [sent(), await price({ amount })]
      const answer = await site.client.post('/amm/trade', {
        ...pair,
        address: site.wallets[0],
        amount,
        side: 'SELL',
        limitPrice: quoted.price,
      })
      expect(answer.status, answer.text).to.not.equal(200)
      expect(answer.body.message).to.match(reason)
      expect(sent()).to.equal(before)
    })
})

/** The accounts of the last instruction that called the exchange's program, and who signed its transaction. */
function calledBy({ solana, pools }: AmmSite): { accounts: readonly string[]; signers: readonly string[] } {
  const found = solana.sent.findLast(({ message }) => message.staticAccounts.includes(pools[0].program))
  if (!found) throw new Error('Nobody called the program.')
  const { staticAccounts, instructions, header } = found.message
  const call = instructions.find((each) => staticAccounts[each.programAddressIndex] === pools[0].program)
  return {
    accounts: (call?.accountIndices ?? []).map((index) => staticAccounts[index] ?? ''),
    signers: staticAccounts.slice(0, header.numSignerAccounts),
  }
}
