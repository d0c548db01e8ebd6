import { PassThrough } from 'node:stream'
import { expect } from 'chai'
import { Wallet } from 'ethers'
import type { DevnetSite } from '../../core/contracts/devnet.ts'
import { deployOutside } from '../../core/devnet/outside.ts'
import type { ProcessEnd } from '../../core/plugins/isolate/containment.ts'

describe('the process of a devnet.ts', () => {
  it('is ended where it asks nothing of the chain, long before its time is over, and leaves the chain as it was', async () => {
    const asked: string[] = []
    let finish: (end: ProcessEnd) => void = () => {}
    const ended = new Promise<ProcessEnd>((resolve) => (finish = resolve))
    const channel = new PassThrough()
    // What it is told goes nowhere, and it says nothing.
    channel.write = () => true
    const process = {
      channel,
      ended,
      kill() {
        channel.destroy()
        finish({ reason: 'it was ended by SIGKILL', said: '' })
      },
      use: () => ({ processes: 1, residentBytes: 0, processorMs: 0 }),
    }
    const failure = await deployOutside(
      {
        plugin: {
          name: 'waits',
          folder: '/nowhere',
          origin: '/nowhere',
          entry: '',
          builtIn: false,
          tier: 'contained',
          allowedBy: 'nobody',
        },
        file: '/nowhere/devnet.ts',
      },
      {
        anvil: { rpcUrl: '', rpc: async (method: string) => void asked.push(method) },
        tokens: {} as never,
        site: { signer: Wallet.createRandom() } as unknown as DevnetSite,
        before: new Map(),
      },
      async () => ({ process, inside: (file) => file, inform: (news) => news }),
      { processorMs: 60_000, clockMs: 60_000, idleMs: 100 },
    ).catch((thrown: unknown) => thrown)
    expect(String(failure)).to.include('it asked nothing of the chain for 0.1 s: an endless loop, or an await that never settles')
    expect(asked).to.deep.equal(['evm_snapshot', 'evm_revert'])
  })
})
