import { expect } from 'chai'
import { parseEther } from 'ethers'
import { openLimiter, type Limiter } from '../../../core/wallet/limits/limiter.ts'
import { beginCount } from '../../../core/wallet/limits/count-file.ts'
import { Refusal } from '../../../core/wallet/policy.ts'
import { localRules, requestOf, stranger, token, transaction } from '../example-policy.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const wallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const transferOf = (to: string, amountRaw: bigint) => ({
  to,
  value: 0n,
  data: `0xa9059cbb${stranger.slice(2).padStart(64, '0')}${amountRaw.toString(16).padStart(64, '0')}`,
})

describe('what a limit of a wallet refuses', () => {
  const dataDir = temporaryFolder()
  let limiter: Limiter | undefined
  afterEach(async () => {
    await limiter?.close()
    limiter = undefined
  })

  async function open(): Promise<Limiter> {
    await beginCount(dataDir)
    const row = { perHour: '10', perDay: '20' }
    const limits = {
      [wallet]: {
        'ethereum/local': {
          native: { perTransaction: '1', perDay: '2' },
          gasCost: { perDay: '0.01' },
          tokens: { [token]: { decimals: 6, ...row } },
        },
      },
    }
    const symbols = { 'ethereum/local': { [token.toLowerCase()]: 'DAI', [stranger.toLowerCase()]: 'ODD' } }
    return (limiter = await openLimiter({ limits, symbols, dataDir }))
  }
  async function refusal(changes: object, rules = localRules()): Promise<Refusal> {
    const request = requestOf(wallet, transaction({ to: stranger, data: '0x', value: 0n, gasLimit: 21_000n, maxFeePerGas: 1n, ...changes }))
    const error = await (limiter ?? (await open())).reserve(request, rules).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    if (!(error instanceof Refusal)) throw error instanceof Error ? error : new Error('it was not refused')
    return error
  }

  it('is said with the symbol of the token, the limit and its file, what is left and when it frees', async () => {
    await open()
    await limiter?.reserve(
      requestOf(wallet, transaction({ nonce: 1, gasLimit: 60_000n, maxFeePerGas: 1n, ...transferOf(token, 7_500_000n) })),
      localRules(),
    )
    const error = await refusal({ nonce: 2, ...transferOf(token, 3_000_000n) })
    expect(error.message).to.match(
      new RegExp(
        `^the limit perHour of DAI \\(${token}\\) of the wallet ${wallet} on ethereum/local in conf/limits\\.yml is 10, and 2\\.5 is left; there is room for this at 20`,
      ),
    )
    expect(error.details).to.include({
      limit: `wallets.${wallet}.ethereum/local.tokens.${token}.perHour`,
      file: 'conf/limits.yml',
      token: 'DAI',
    })
    expect(error.details?.['freesAt']).to.be.within(Date.now() + 3_500_000, Date.now() + 3_700_000)
  })

  it('is said without an end where there never is room, and of what is kept for cancels', async () => {
    const large = await refusal({ value: parseEther('1.5') })
    expect(large.message).to.match(
      /the limit perTransaction of the native coin \(native\) .* is 1\.?0*, and 1\.?0* is left; there never is room for this$/,
    )
    const gas = await refusal({ maxFeePerGas: 400_000_000_000n })
    expect(gas.message).to.match(
      /the limit perDay of gas \(gasCost\) .* is 0\.0080* \(four fifths: the rest is for cancels and revocations\)/,
    )
  })

  it('is said as not named where the file has no row for it', async () => {
    const unnamed = await refusal(transferOf(stranger, 1n))
    expect(unnamed.message).to.match(/in conf\/limits\.yml do not name ODD \(0x5555\w+\), and what they do not name is not given away/)
    expect(unnamed.details).to.include({ limit: `wallets.${wallet}.ethereum/local.tokens.${stranger}`, left: '0', token: 'ODD' })
    const elsewhere = await refusal({}, { ...localRules(), name: 'ethereum/mainnet' })
    expect(elsewhere.details).to.deep.equal({ limit: `wallets.${wallet}`, file: 'conf/limits.yml', left: '0' })
  })
})
