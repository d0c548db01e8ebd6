import { expect } from 'chai'
import { Interface } from 'ethers'
import pino from 'pino'
import { wellKnownAddresses } from '../../core/wallet/keys.ts'
import type { PolicyBounds } from '../../core/wallet/policy-bounds.ts'
import type { SignerPolicy } from '../../core/wallet/policy.ts'
import { startSigner, type Signer } from '../../core/wallet/signer.ts'
import {
  allowedSpender,
  bridge,
  dollar,
  examplePolicy,
  otherBridge,
  requestOf,
  router,
  stranger,
  token,
  transaction,
  wrapper,
} from './example-policy.ts'
import { until } from './processes.ts'
import { temporaryFolder } from './temporary-folder.ts'

const erc20 = new Interface(['function approve(address,uint256)', 'function transfer(address,uint256)'])
const [wallet = ''] = wellKnownAddresses
const bounds: PolicyBounds = {
  contracts: { local: [router, wrapper], mainnet: [router, wrapper] },
  deposits: [
    { token: dollar, recipient: bridge },
    { token: wrapper, recipient: otherBridge },
  ],
  allowedSpenders: [allowedSpender],
  typedData: [{ domain: 'Allowed', primaryType: 'Order' }],
}

describe('whoever holds the channel of the signer', () => {
  const dataDir = temporaryFolder()
  let signer: Signer
  const said: string[] = []
  beforeEach(async () => {
    const log = pino({ level: 'error' }, { write: (line: string) => void said.push(line) })
    signer = await startSigner({ dataDir, devnet: true, policy: { networks: [], allowedSpenders: [] }, bounds, log })
    await signer.setPolicy(examplePolicy)
  })
  afterEach(() => signer.stop())

  const local = examplePolicy.networks[0]
  if (local?.keys !== 'secp256k1') throw new Error('It is the devnet.')
  const changed = (change: Partial<typeof local>): SignerPolicy => ({
    ...examplePolicy,
    networks: [{ ...local, ...change }, ...examplePolicy.networks.slice(1)],
  })
  const typedData = (domain: string) => ({
    chain: 'ethereum',
    network: 'local',
    address: wallet,
    draft: {
      scheme: 'eip712' as const,
      typedData: {
        domain: { name: domain, chainId: 31337 },
        types: { Order: [{ name: 'price', type: 'uint256' }] },
        primaryType: 'Order',
        message: { price: '5' },
      },
    },
  })
  const call = (to: string, data: string) => requestOf(wallet, transaction({ to, data, value: 0n }))
  const approveStranger = call(token, erc20.encodeFunctionData('approve', [stranger, 1n]))
  const isSigned = (request: Parameters<Signer['sign']>[0]) =>
    signer.sign(request).then(
      () => true,
      () => false,
    )

  const widened: readonly [string, SignerPolicy, Parameters<Signer['sign']>[0]][] = [
    ['a spender', changed({ spenders: [router, stranger] }), approveStranger],
    ['a spender of the settings', { ...examplePolicy, allowedSpenders: [allowedSpender, stranger] }, approveStranger],
    ['a contract', changed({ contracts: [router, wrapper, stranger] }), call(stranger, '0x12345678')],
    [
      'a deposit',
      changed({ deposits: [{ token: dollar, recipient: stranger }] }),
      call(dollar, erc20.encodeFunctionData('transfer', [stranger, 1n])),
    ],
    ['a kind of typed data', changed({ typedData: [...local.typedData, { domain: 'Thief', primaryType: 'Order' }] }), typedData('Thief')],
    ['another chain id', changed({ chainId: 1 }), requestOf(wallet, transaction({ chainId: 1 }))],
    [
      'a higher fee',
      changed({ feeCapRaw: `${local.feeCapRaw}0` }),
      requestOf(wallet, transaction({ maxFeePerGas: BigInt(local.feeCapRaw) * 2n })),
    ],
    [
      'a network more',
      { ...examplePolicy, networks: [...examplePolicy.networks, { ...local, network: 'other' }] },
      requestOf(wallet, transaction(), { network: 'other' }),
    ],
  ]
  for (const [what, policy, request] of widened)
    it(`gives it no policy with ${what} that the operator's files do not name, and the rest goes on`, async () => {
      said.length = 0
      await signer.setPolicy(policy)
      expect(await isSigned(request)).to.equal(false)
      expect(await isSigned(requestOf(wallet, transaction()))).to.equal(true)
      expect(await isSigned(call(token, erc20.encodeFunctionData('approve', [router, 1n])))).to.equal(true)
      await until(() => said.some((line) => line.includes('does not sign for what neither')))
    })

  it('gives it what sluice.lock names: typed data of a plugin that is loaded later', async () => {
    expect(await isSigned(typedData('Allowed'))).to.equal(false)
    await signer.setPolicy(changed({ typedData: [...local.typedData, { domain: 'Allowed', primaryType: 'Order' }] }))
    expect(await isSigned(typedData('Allowed'))).to.equal(true)
  })

  it('gives it no address of a stranger by ending it either: it starts again within the same bounds', async () => {
    await signer.setPolicy(changed({ spenders: [router, stranger] }))
    const before = signer.processId() ?? 0
    process.kill(before, 'SIGKILL')
    await until(() => signer.isReady() && signer.processId() !== before)
    expect(await isSigned(approveStranger)).to.equal(false)
    expect(await isSigned(requestOf(wallet, transaction()))).to.equal(true)
  })
})
