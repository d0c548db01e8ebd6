import { AbiCoder, ContractFactory, Interface, JsonRpcProvider, keccak256, toBeHex } from 'ethers'
import { readArtifact } from '../../../../core/devnet/build-state.ts'
import { startAnvil } from '../../../../core/devnet/anvil.ts'

const kit = new URL('../../../../kits/amm/stable/devnet.ts', import.meta.url).href
const fixtures = new URL('../../../fixtures/stable/take.mjs', import.meta.url).href
const mostAtOnce = 500
const coins = ['c1', 'c2', 'c3', 'c4'].map((end) => `0x${end.padStart(40, '0')}`)
// Answers true to every call.
const willing = '0x600160005260206000f3'

/** A pool's balances, and a swap. */
export interface Case {
  readonly balances: readonly bigint[]
  readonly amplification: bigint
  readonly fee: bigint
  readonly from: number
  readonly to: number
  readonly amountRaw: bigint
}

/** Curve's contract itself, in any state, on a test chain. */
export async function contractPool() {
  // Mines by interval at first: a wait for the next block would never end without one.
  const anvil = await startAnvil(0, ['--block-time', '1', '--mixed-mining'])
  const provider = new JsonRpcProvider(anvil.rpcUrl, undefined, { staticNetwork: true, pollingInterval: 50 })
  const signer = await provider.getSigner(0)
  const deploy = async (name: string, moduleUrl: string, ...args: unknown[]) => {
    const { abi, bytecode } = await readArtifact(name, moduleUrl)
    const contract = await new ContractFactory(abi, bytecode, signer).deploy(...args)
    return (await contract.waitForDeployment()).getAddress()
  }
  const pool = await deploy('Stableswap', kit, coins, coins, coins[0], 1n, 0n)
  const library = await deploy('SwapUtilsExternal', fixtures)
  await anvil.rpc('evm_setIntervalMining', 0)
  const functions = new Interface([
    'function get_dy(int128, int128, uint256) view returns (uint256)',
    'function exchange(int128, int128, uint256, uint256)',
    'function getD(uint256[] xp, uint256 a) pure returns (uint256)',
    'function getY(uint256 a, uint8 from, uint8 to, uint256 x, uint256[] xp) pure returns (uint256)',
  ])
  for (const coin of coins) await anvil.rpc('anvil_setCode', coin, willing)

  /** What was returned, undefined where it reverted. */
  const callAll = async (calls: readonly (readonly unknown[])[]): Promise<readonly (string | undefined)[]> => {
    const answers: (string | undefined)[] = []
    for (let at = 0; at < calls.length; at += mostAtOnce) {
      const body = calls.slice(at, at + mostAtOnce).map((params, id) => ({ jsonrpc: '2.0', id, method: 'eth_call', params }))
      const response = await fetch(anvil.rpcUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      const answered: unknown = await response.json()
      if (!Array.isArray(answered)) throw new Error(`The node answered ${JSON.stringify(answered).slice(0, 200)}.`)
      const byId = new Map(answered.map(({ id, result }) => [id, result]))
      answers.push(...body.map(({ id }) => byId.get(id)))
    }
    return answers
  }

  const inState = ({ balances, amplification, fee }: Case, data: string) => {
    // Vyper 0.1 stores a list from the hash of its slot on, in the order of the source: balances are third, then A and fee.
    const listed = BigInt(keccak256(toBeHex(2, 32)))
    const stateDiff = Object.fromEntries([
      ...balances.map((balance, index) => [toBeHex(listed + BigInt(index), 32), toBeHex(balance, 32)]),
      [toBeHex(3, 32), toBeHex(amplification, 32)],
      [toBeHex(4, 32), toBeHex(fee, 32)],
    ])
    return [{ to: pool, data }, 'latest', { [pool]: { stateDiff } }]
  }
  const numbers = (answers: readonly (string | undefined)[]) =>
    answers.map((answer) => (answer === undefined ? undefined : BigInt(String(AbiCoder.defaultAbiCoder().decode(['uint256'], answer)[0]))))

  return {
    /** The result of `get_dy`. */
    promised: async (cases: readonly Case[]) =>
      numbers(
        await callAll(cases.map((each) => inState(each, functions.encodeFunctionData('get_dy', [each.from, each.to, each.amountRaw])))),
      ),
    /** Whether `exchange` gives at least this much. */
    gives: async (cases: readonly (Case & { readonly minRaw: bigint })[]) =>
      (
        await callAll(
          cases.map((each) => inState(each, functions.encodeFunctionData('exchange', [each.from, each.to, each.amountRaw, each.minRaw]))),
        )
      ).map((answer) => answer !== undefined),
    /** Calls a pure function of the library. */
    library: async (name: 'getD' | 'getY', inputs: readonly (readonly unknown[])[]) =>
      numbers(await callAll(inputs.map((input) => [{ to: library, data: functions.encodeFunctionData(name, input) }, 'latest']))),
    async stop() {
      provider.destroy()
      await anvil.stop()
    },
  }
}
