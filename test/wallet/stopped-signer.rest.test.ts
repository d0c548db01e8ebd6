import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { Interface, type TransactionLike } from 'ethers'
import type { StopMode } from '../../core/api/index.ts'
import type { Stop } from '../../core/config/stops.ts'
import { wellKnownAddresses } from '../../core/keys/curves.ts'
import type { SignRequest } from '../../core/wallet/signer-messages.ts'
import { startSigner, type Signer, type SignerOptions } from '../../core/wallet/signer.ts'
import { exampleFiles } from './example-files.ts'
import { listed, requestOf, router, stranger, transaction } from './example-policy.ts'
import { until } from './processes.ts'
import { temporaryFolder } from './temporary-folder.ts'

const [wallet = '', other = ''] = wellKnownAddresses
const approve = (amount: bigint) => new Interface(['function approve(address,uint256)']).encodeFunctionData('approve', [router, amount])
const empty = (address: string): TransactionLike => ({ to: address, value: 0n, data: '0x' })
const order = {
  domain: { name: 'Book', chainId: 31337, verifyingContract: router },
  types: { Order: [{ name: 'amount', type: 'uint256' }] },
  primaryType: 'Order',
  message: { amount: '1' },
}

const log: SignerOptions['log'] = { info: () => {}, warn: () => {}, error: () => {} }

describe('the signer while something is stopped', () => {
  const dataDir = temporaryFolder()
  let signer: Signer
  before(async () => {
    signer = await startSigner({ dataDir, devnet: true, files: await exampleFiles(dataDir), log })
  })
  after(() => signer.stop())
  afterEach(() => {
    for (const name of ['STOP', 'stop', 'REDUCE-ONLY']) rmSync(path.join(dataDir, name), { force: true })
    signer.hold([])
  })

  const write = (name: string, text = '') => writeFileSync(path.join(dataDir, name), text)
  const told = (mode: StopMode, scope: Stop['scope'] = { of: 'all' }) => signer.hold([{ mode, scope, setBy: 'ops', since: 1 }])
  const outcome = (request: SignRequest): Promise<string> =>
    signer.sign(request).then(
      () => 'signed',
      ({ name }: Error) => name,
    )
  const call = (effect?: SignRequest['effect'], address = wallet) => requestOf(address, transaction(), effect && { effect })
  /** What it signs of each: with the server's word of a call that only the exchange's contract can read. */
  async function signed(address = wallet): Promise<string[]> {
    const requests: Record<string, SignRequest> = {
      cancel: requestOf(address, transaction(empty(address))),
      revoke: requestOf(address, transaction({ to: listed, value: 0n, data: approve(0n) })),
      approve: requestOf(address, transaction({ to: listed, value: 0n, data: approve(5n) })),
      call: call(undefined, address),
      'call that cancels': call('cancels', address),
      'call that reduces': call('reduces', address),
      'approve that reduces': requestOf(address, transaction({ to: listed, value: 0n, data: approve(5n) }), { effect: 'reduces' }),
      action: requestOf(address, transaction(), { draft: { scheme: 'eip712', typedData: order } }),
      'action that cancels': requestOf(address, transaction(), { draft: { scheme: 'eip712', typedData: order }, effect: 'cancels' }),
    }
    const names: string[] = []
    for (const [name, request] of Object.entries(requests)) {
      const result = await outcome(request)
      expect(result, name).to.be.oneOf(['signed', 'STOPPED'])
      if (result === 'signed') names.push(name)
    }
    return names
  }
  const recognised = ['cancel', 'revoke']
  const byWord = ['call that cancels', 'call that reduces', 'action that cancels']

  it('signs nothing but cancels under the file STOP, whatever the server says', async () => {
    expect(await signed()).to.have.length(9)
    write('STOP')
    expect(await signed()).to.deep.equal(['cancel'])
    rmSync(path.join(dataDir, 'STOP'))
    write('stop', '# everything\n')
    expect(await signed()).to.deep.equal(['cancel'])
    rmSync(path.join(dataDir, 'stop'))
    expect(await signed()).to.have.length(9)
  })

  it('signs what it sees to reduce under REDUCE-ONLY, and calls that the server says reduce', async () => {
    write('REDUCE-ONLY')
    expect(await signed()).to.have.members([...recognised, ...byWord])
  })

  it('goes by what the server tells it of the store, also after it was started again', async () => {
    told('reduce-only')
    expect(await signed()).to.have.members([...recognised, ...byWord])
    told('stop')
    expect(await signed()).to.have.members(['cancel', 'call that cancels', 'action that cancels'])
    const before = signer.processId()
    process.kill(before ?? 0, 'SIGKILL')
    await until(() => signer.isReady() && signer.processId() !== before)
    expect(await outcome(call())).to.equal('STOPPED')
    told('stop', { of: 'wallet', subject: other.toLowerCase() })
    expect(await outcome(call())).to.equal('signed')
    expect(await outcome(call(undefined, other))).to.equal('STOPPED')
  })

  it('holds one wallet by a line of the file, leaves clients to the server, and all where a line or the file is odd', async () => {
    write('STOP', `${other}\n`)
    expect([await outcome(call()), await outcome(call(undefined, other))]).to.deep.equal(['signed', 'STOPPED'])
    write('STOP', 'market-maker # the server knows who asks\n')
    expect(await outcome(call())).to.equal('signed')
    for (const odd of [stranger, 'two words', `${other.slice(0, -1)}0`, 'x'.repeat(70_000)]) {
      write('STOP', odd)
      expect(await outcome(call()), odd.slice(0, 60)).to.equal('STOPPED')
    }
    rmSync(path.join(dataDir, 'STOP'))
    symlinkSync('/nowhere', path.join(dataDir, 'STOP'))
    expect(await outcome(call())).to.equal('STOPPED')
  })
})
