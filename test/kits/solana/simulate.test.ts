import { expect } from 'chai'
import { generateKeyPairSigner, type Address, type Instruction, type KeyPairSigner } from '@solana/kit'
import { getCreateAccountInstruction, SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import {
  AuthorityType,
  getApproveCheckedInstruction,
  getApproveInstruction,
  getCloseAccountInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getFreezeAccountInstruction,
  getRevokeInstruction,
  getSetAuthorityInstruction,
  getSyncNativeInstruction,
  getTransferInstruction,
} from '@solana-program/token'
import { getTransferSolInstruction } from '@solana-program/system'
import { addressBytes, fromKit, nativeAddress, tokenAccountOf, wrappedMint, type SolanaIntent } from '../../../kits/solana/index.ts'
import { soon, startCluster, type TestCluster } from './test-cluster.ts'

describe('what a step of Solana would do to a wallet', () => {
  let site: TestCluster
  let stranger: KeyPairSigner
  let usdc: string
  /** The wallet's, and the stranger's. */
  let own: Address
  let theirs: Address
  before(async () => {
    site = await startCluster()
    const { cluster, wallet } = site
    stranger = await generateKeyPairSigner()
    usdc = cluster.mints.USDC.address
    for (const owner of [wallet.address, stranger.address]) await cluster.mintTo(owner, cluster.mints.USDC, 1_000n)
    cluster.blocks(1)
    own = tokenAccountOf(wallet.address, usdc) as Address
    theirs = tokenAccountOf(stranger.address, usdc) as Address
  })
  after(() => site?.stop())

  const simulate = async (instructions: readonly Instruction[], { signers = [] as string[], tokens = [usdc] } = {}) => {
    const { chain, wallet } = site
    const step: SolanaIntent = {
      payer: wallet.address,
      instructions: instructions.map(fromKit),
      value: '0',
      rent: '0',
      ...(signers.length > 0 && { signers }),
    }
    return chain.altchain?.simulate?.([step], wallet.address, { tokens }, soon())
  }
  const done = async (...asked: Parameters<typeof simulate>) => {
    const outcome = await simulate(...asked)
    if (typeof outcome !== 'object' || outcome.is !== 'done') throw new Error(JSON.stringify(outcome))
    return { gains: Object.fromEntries(outcome.gains), grants: outcome.grants, sent: Object.fromEntries(outcome.sent ?? []) }
  }

  it('counts tokens that leave, whoever moves them, and not the fee', async () => {
    const { gains, sent, grants } = await done([
      getTransferInstruction({ source: own, destination: theirs, authority: site.wallet, amount: 300n }),
    ])
    expect(gains).to.deep.equal({ [nativeAddress]: 0n, [usdc]: -300n })
    expect(sent).to.deep.equal({ [usdc]: 300n })
    expect(grants).to.deep.equal([])
  })

  it("counts lamports that leave, rent of somebody else's account among them", async () => {
    const account = await generateKeyPairSigner()
    const lamports = 2_000_000n
    const making = getCreateAccountInstruction({
      payer: site.wallet,
      newAccount: account,
      lamports,
      space: 8n,
      programAddress: SYSTEM_PROGRAM_ADDRESS,
    })
    const { gains, sent } = await done([making], { signers: [account.address] })
    expect(gains).to.deep.equal({ [nativeAddress]: -lamports })
    expect(sent).to.deep.equal({ [nativeAddress]: lamports })
  })

  it("counts no rent of the wallet's own accounts, and SOL that it wraps only where that is told apart", async () => {
    const { wallet } = site
    const account = tokenAccountOf(wallet.address, wrappedMint) as Address
    const wrapping = [
      getCreateAssociatedTokenIdempotentInstruction({ payer: wallet, owner: wallet.address, ata: account, mint: wrappedMint as Address }),
      getTransferSolInstruction({ source: wallet, destination: account, amount: 7_000n }),
      getSyncNativeInstruction({ account }),
    ]
    expect((await done(wrapping)).gains).to.deep.equal({ [nativeAddress]: 0n })
    const apart = await done(wrapping, { tokens: [wrappedMint] })
    expect(apart.gains).to.deep.equal({ [nativeAddress]: -7_000n, [wrappedMint]: 7_000n })
  })

  it('counts no lamports as won that somebody had sent to where SOL is wrapped, also where that is closed again', async () => {
    const { cluster, wallet } = site
    const account = tokenAccountOf(wallet.address, wrappedMint) as Address
    await cluster.fund(account, 890_880n)
    cluster.blocks(1)
    const making = getCreateAssociatedTokenIdempotentInstruction({
      payer: wallet,
      owner: wallet.address,
      ata: account,
      mint: wrappedMint as Address,
    })
    const closing = getCloseAccountInstruction({ account, destination: wallet.address, owner: wallet })
    for (const tokens of [[usdc], [wrappedMint]])
      for (const instructions of [[making], [making, closing]])
        expect((await done(instructions, { tokens })).gains).to.deep.equal({ [nativeAddress]: 0n })
  })

  it("counts the rent of the wallet's new accounts of tokens that the request does not name: whoever freezes one keeps it shut", async () => {
    const { cluster, wallet } = site
    const mint = cluster.mints.BASE.address
    const account = tokenAccountOf(wallet.address, mint) as Address
    const making = getCreateAssociatedTokenIdempotentInstruction({ payer: wallet, owner: wallet.address, ata: account, mint })
    const rentRaw = 2_039_280n
    const foreign = await done([making])
    expect(foreign.gains).to.deep.equal({ [nativeAddress]: -rentRaw })
    expect(foreign.sent).to.deep.equal({ [nativeAddress]: rentRaw })
    expect((await done([making], { tokens: [usdc, mint] })).gains).to.deep.equal({ [nativeAddress]: 0n })
    const found = cluster.svm.getAccount(mint)
    if (!found.exists) throw new Error('There is no mint.')
    // solana-program/token, Mint: the freeze authority, an option of four bytes and an address.
    const data = Uint8Array.from(found.data)
    data.set([1, 0, 0, 0, ...addressBytes(wallet.address)], 46)
    cluster.svm.setAccount({ ...found, data })
    const frozen = await done([making, getFreezeAccountInstruction({ account, mint, owner: wallet })], { tokens: [usdc, mint] })
    expect(frozen.gains).to.deep.equal({ [nativeAddress]: -rentRaw })
  })

  it('tells who could move tokens afterwards: a delegate, another owner, one who may close an account', async () => {
    const { wallet } = site
    const of = async (instruction: Instruction) => (await done([instruction])).grants
    const approve = getApproveInstruction({ source: own, delegate: stranger.address, owner: wallet, amount: 5n })
    expect(await of(approve)).to.deep.equal([{ token: usdc, spender: stranger.address, amountRaw: 5n }])
    const authority = { owned: own, owner: wallet, newAuthority: stranger.address }
    const given = await done([getSetAuthorityInstruction({ ...authority, authorityType: AuthorityType.AccountOwner })])
    expect(given.grants).to.deep.equal([{ token: usdc, spender: stranger.address }])
    expect(given.gains[usdc]).to.equal(-1_000n)
    expect(await of(getSetAuthorityInstruction({ ...authority, authorityType: AuthorityType.CloseAccount }))).to.deep.equal([
      { token: usdc, spender: stranger.address },
    ])
  })

  it('counts what a new account may take as sent, though nothing is taken and the right ends with the step', async () => {
    const { wallet } = site
    const delegate = await generateKeyPairSigner()
    const release = getApproveCheckedInstruction({
      source: own,
      mint: usdc as Address,
      delegate: delegate.address,
      owner: wallet,
      amount: 400n,
      decimals: site.cluster.mints.USDC.decimals,
    })
    const taken = getTransferInstruction({ source: own, destination: theirs, authority: delegate, amount: 100n })
    const { gains, sent, grants } = await done([release, taken, getRevokeInstruction({ source: own, owner: wallet })], {
      signers: [delegate.address],
    })
    expect(gains[usdc]).to.equal(-100n)
    expect(sent).to.deep.equal({ [usdc]: 400n })
    expect(grants).to.deep.equal([])
  })

  it('fails where the step would, with the reason', async () => {
    const tooMuch = getTransferInstruction({ source: own, destination: theirs, authority: site.wallet, amount: 10_000n })
    expect(await simulate([tooMuch])).to.deep.equal({
      is: 'failed',
      reason: 'Token: custom program error: 0x1 (insufficient funds)',
    })
  })
})
