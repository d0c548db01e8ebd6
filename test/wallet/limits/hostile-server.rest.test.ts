import { rmSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { parseEther, Wallet, type TransactionLike } from 'ethers'
import { SluiceError } from '../../../core/base/errors.ts'
import { saveKey } from '../../../core/keys/keystore.ts'
import { beginCount, countFolder } from '../../../core/wallet/limits/count-file.ts'
import { startSigner, type Signer } from '../../../core/wallet/signer.ts'
import { randomOf } from '../../../tools/chaos/random.ts'
import { exampleFiles } from '../example-files.ts'
import { requestOf, stranger, token, transaction } from '../example-policy.ts'
import { until } from '../processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const passphrase = 'correct horse'
const [limited, free] = [new Wallet(`0x${'a1b2c3d4'.repeat(8)}`), new Wallet(`0x${'b1b2c3d4'.repeat(8)}`)]
const perDay = parseEther('1')
const log = { info() {}, warn() {}, error() {} }

const failure = async (signing: Promise<unknown>): Promise<SluiceError | undefined> => {
  const error = await signing.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error !== undefined && !(error instanceof SluiceError)) throw error
  return error
}

const transferOf = (amountRaw: bigint): TransactionLike => ({
  to: token,
  value: 0n,
  data: `0xa9059cbb${stranger.slice(2).padStart(64, '0')}${amountRaw.toString(16).padStart(64, '0')}`,
})

describe('the signer, asked by a hostile server', () => {
  const dataDir = temporaryFolder()
  let signer: Signer
  const start = async (): Promise<Signer> => {
    const files = await exampleFiles(dataDir, {
      passphrase,
      conf: {
        'limits.yml': {
          wallets: {
            [limited.address]: {
              'ethereum/local': {
                native: { perTransaction: '0.4', perDay: '1' },
                gasCost: { perDay: '2' },
                tokens: { [token]: { decimals: 6, perHour: '100', perDay: '250' } },
              },
            },
          },
        },
      },
    })
    const recipients = Object.fromEntries([limited, free].map(({ address }) => [address, [stranger]]))
    return startSigner({ dataDir, passphrase, devnet: false, files: { ...files, recipients }, log })
  }
  const sign = (changes: TransactionLike, { address }: Wallet = limited): Promise<Uint8Array> =>
    signer.sign(requestOf(address, transaction({ to: stranger, data: '0x', gasLimit: 21_000n, ...changes })))

  before(async () => {
    for (const { privateKey } of [limited, free]) await saveKey({ dataDir, chain: 'ethereum', privateKey, passphrase, scryptN: 1024 })
    await beginCount(dataDir)
    signer = await start()
  })
  after(() => signer.stop())

  it('signs for no more than the limits of the wallet in a day, in any order, at once and over restarts', async () => {
    const random = randomOf('hostile')
    /** By nonce, the largest that was signed. */
    const signed = new Map<number, bigint>()
    const tokens = new Map<number, bigint>()
    let refused = 0
    for (let round = 0; round < 12; round += 1) {
      const asked = Array.from({ length: 15 }, async () => {
        const nonce = random.below(40)
        const isToken = random.chance(0.4)
        const amountRaw = isToken ? BigInt(random.below(60_000_000)) : (parseEther('0.5') * BigInt(random.below(100))) / 100n
        const error = await failure(sign({ nonce, ...(isToken ? transferOf(amountRaw) : { value: amountRaw }) }))
        if (error) {
          if (error.name === 'LIMIT_EXCEEDED') refused += 1
          return
        }
        const sums = isToken ? tokens : signed
        if (amountRaw > (sums.get(nonce) ?? 0n)) sums.set(nonce, amountRaw)
      })
      // It is killed as it signs, or stopped in order: what it counted stays.
      if (round % 4 === 1) process.kill(signer.processId() ?? 0, 'SIGKILL')
      await Promise.all(asked)
      if (round % 4 === 1) await until(() => signer.isReady())
      if (round % 4 === 3) {
        await signer.stop()
        signer = await start()
      }
    }
    const sumOf = (all: ReadonlyMap<number, bigint>) => [...all.values()].reduce((sum, each) => sum + each, 0n)
    expect(sumOf(signed) <= perDay, `${sumOf(signed)} wei`).to.equal(true)
    expect(sumOf(tokens) <= 100_000_000n, `${sumOf(tokens)} of the token`).to.equal(true)
    expect(signed.size).to.be.greaterThan(2)
    expect(refused).to.be.greaterThan(20)
  })

  it('says which limit it is, what is left and when there is room', async () => {
    const error = await failure(sign({ nonce: 900, value: parseEther('0.4') }))
    expect(error).to.include({ name: 'LIMIT_EXCEEDED', http: 403 })
    expect(error?.details)
      .to.have.property('limit')
      .that.matches(/ethereum\/local\.native\.perDay$/)
    expect(error?.details).to.have.property('left')
    expect(error?.details)
      .to.have.property('freesAt')
      .that.is.within(Date.now() + 22 * 3_600_000, Date.now() + 25 * 3_600_000)
    const large = await failure(sign({ nonce: 900, value: parseEther('0.41') }))
    expect(large?.details)
      .to.have.property('limit')
      .that.matches(/native\.perTransaction$/)
  })

  it('refuses what the limits do not name: a network, a token, a call that it cannot read', async () => {
    const onMainnet = signer.sign(requestOf(limited.address, transaction({ to: stranger, data: '0x', chainId: 1 }), { network: 'mainnet' }))
    expect((await failure(onMainnet))?.message).to.match(/do not name ethereum\/mainnet/)
    const otherToken = await failure(sign({ nonce: 901, ...transferOf(1n), to: '0x6666666666666666666666666666666666666666' }))
    expect(otherToken?.name).to.equal('LIMIT_EXCEEDED')
    const call = await failure(signer.sign(requestOf(limited.address, transaction({ nonce: 902, value: 0n }))))
    expect(call?.message).to.match(/cannot read how much the call 0x38ed1739 of .* takes/)
    const selector = await failure(signer.sign(requestOf(limited.address, transaction({ nonce: 902, value: 0n, data: '0xd0e30db0' }))))
    expect(selector?.name).to.equal('LIMIT_EXCEEDED')
  })

  it('signs a cancel, and for wallets without limits as ever', async () => {
    await sign({ nonce: 0, to: limited.address, value: 0n })
    await sign({ value: parseEther('1000') }, free)
    await signer.sign(requestOf(free.address, transaction()))
  })

  it('signs nothing for wallets with limits where the count is gone', async () => {
    rmSync(path.join(countFolder(dataDir), 'log'))
    for (const isAgain of [false, true]) {
      if (isAgain) {
        await signer.stop()
        signer = await start()
      }
      const error = await failure(sign({ nonce: 0, to: limited.address, value: 0n }))
      // Nothing that ends by itself: a bot that tries again gets the same.
      expect(error).to.include({ name: 'FORBIDDEN', http: 403, retryAfterSeconds: undefined })
      expect(error?.details).to.deep.equal({ reason: 'signer count', command: 'bin/sluice limits reset-count' })
      expect(error?.message).to.match(/count of what it signed is missing.*stops the server.*limits reset-count/)
      await sign({ value: 1n }, free)
    }
  })
})
