import { Interface, type InterfaceAbi } from 'ethers'
import { readArtifact } from '../../../../../core/devnet/build-state.ts'
import { rpcTo, startAnvil } from '../../../../../core/devnet/anvil.ts'

export type Argument = bigint | number | boolean
/** The result of a library function; undefined where it reverted. */
export type Answer = readonly bigint[] | undefined

export interface ContractLibraries {
  /** The results of one function, one for each list of arguments. */
  ask(name: string, inputs: readonly (readonly Argument[])[]): Promise<readonly Answer[]>
  stop(): Promise<void>
}

const fixtures = new URL('../../../../fixtures/uniswap-v3/compile.mjs', import.meta.url).href
const mostCallsAtOnce = 5000
// Many calls on a busy machine take long.
const timeoutMs = 180_000
const plentyOfGas = 2n ** 40n
const harness = '0x00000000000000000000000000000000000000ff'
const digitsPerWord = 64

/** The libraries of Uniswap v3 themselves, on a test chain. */
export async function contractLibraries(): Promise<ContractLibraries> {
  const { abi, bytecode } = await readArtifact('MathHarness', fixtures)
  const anvil = await startAnvil(0, ['--gas-limit', String(plentyOfGas)])
  await anvil.rpc('anvil_setCode', harness, await anvil.rpc('eth_call', { data: bytecode }, 'latest'))
  const rpc = rpcTo(anvil.rpcUrl, timeoutMs)
  const shape = shapes(abi)

  const askSome = async (name: string, inputs: readonly (readonly Argument[])[]): Promise<readonly Answer[]> => {
    const { selector, wordsIn, wordsOut } = shape(name)
    const packed = inputs.map((input) => input.map(wordOf).join('')).join('')
    const head = [selector.slice(2).padEnd(digitsPerWord, '0'), ...[wordsIn, wordsOut, 128, packed.length / 2].map(wordOf)].join('')
    const data = shape('all').selector + head + packed
    const answer = String(await rpc('eth_call', { to: harness, data, gas: `0x${plentyOfGas.toString(16)}` }, 'latest'))
    const words = (answer.slice(2 + 2 * digitsPerWord).match(/.{64}/g) ?? []).map((digits) => BigInt(`0x${digits}`))
    return inputs.map((_, index) => {
      const [ok, ...values] = words.slice(index * (wordsOut + 1), (index + 1) * (wordsOut + 1))
      return ok === 0n ? undefined : values.map((value) => BigInt.asIntN(256, value))
    })
  }

  return {
    async ask(name, inputs) {
      const answers: Answer[] = []
      for (let from = 0; from < inputs.length; from += mostCallsAtOnce)
        answers.push(...(await askSome(name, inputs.slice(from, from + mostCallsAtOnce))))
      return answers
    },
    stop: () => anvil.stop(),
  }
}

function shapes(abi: InterfaceAbi): (name: string) => { selector: string; wordsIn: number; wordsOut: number } {
  const contract = new Interface(abi)
  return (name) => {
    const found = contract.getFunction(name)
    if (!found) throw new Error(`MathHarness.sol has no ${name}.`)
    return { selector: found.selector, wordsIn: found.inputs.length, wordsOut: found.outputs.length }
  }
}

function wordOf(value: Argument): string {
  return BigInt.asUintN(256, BigInt(value)).toString(16).padStart(digitsPerWord, '0')
}
