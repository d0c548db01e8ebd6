import { lamports, type Address } from '@solana/kit'
import { expect } from 'chai'
import type { Token } from '../../../core/contracts/index.ts'
import { createSwapFacts } from '../../../kits/solana/amm/swap-plan.ts'
import { associatedAddress, type SolanaReader } from '../../../kits/solana/index.ts'
import type { Mint } from '../../../tools/solana-node/mints.ts'
import { soon, startCluster, type TestCluster } from './test-cluster.ts'

const tokenOf = ({ symbol, address, decimals }: Mint): Token => ({ symbol, address, decimals })

describe("the wallet's accounts of the next swap of the same tokens", () => {
  let site: TestCluster
  beforeEach(async () => {
    site = await startCluster({ skipped: 0 })
  })
  afterEach(async () => site?.stop())

  /** Whether the wallet is taken to have an account of what it gets: first, and when that was closed. */
  async function isThereBy(reader: SolanaReader): Promise<readonly boolean[]> {
    const { cluster, wallet } = site
    const { USDC, BASE } = cluster.mints
    await cluster.mintTo(wallet.address, BASE, 1n)
    cluster.blocks(2)
    const factsOf = createSwapFacts(reader)
    const swap = { tokenIn: tokenOf(USDC), tokenOut: tokenOf(BASE), exact: 'in', amountRaw: 1n } as const
    const first = await factsOf(swap, wallet.address, soon())
    const account = cluster.svm.getAccount((await associatedAddress(wallet.address, BASE.address, BASE.program)) as Address)
    if (!account.exists) throw new Error('It is not there.')
    cluster.svm.setAccount({ ...account, lamports: lamports(0n), data: new Uint8Array(), space: 0n })
    cluster.blocks(2)
    return [first.isThere, (await factsOf(swap, wallet.address, soon())).isThere]
  }

  it('are not read again where the reader tells of refusals, and there was none', async () => {
    expect(await isThereBy(site.chain.reader)).to.deep.equal([true, true])
  })

  it('are read again where the reader tells of none, as in a contained plugin', async () => {
    const { refusals: _, ...reader } = site.chain.reader
    expect(await isThereBy(reader)).to.deep.equal([true, false])
  })
})
