import { expect } from 'chai'
import { unlike, printed } from './like.ts'
import type { Fence } from './page.ts'

interface Network {
  readonly chain: string
  readonly network: string
}

/** Where a reader types the commands of a page. */
interface Place {
  readonly url: string
  /** Runs a script in the folder of the server, and gives what it printed. */
  readonly type: (script: string) => string | Promise<string>
  readonly poll: (txHash: string, network: Network) => Promise<{ readonly txState?: unknown }>
}

/** Types the commands of a page one after the other, and compares what they print with what the page shows. */
export async function typeCommands(fences: readonly Fence[], { url, type, poll }: Place): Promise<void> {
  let functions = ''
  for (const [index, { language, text, line }] of fences.entries()) {
    if (language !== 'sh' || text.startsWith('npm ')) continue
    const script = `${functions}${text.replaceAll('https://localhost:15888', url)}`
    // Each block runs in a shell of its own; what they share is defined in one, and what is sent is waited for.
    if (/^\w+\(\)/.test(text)) functions = text
    const output = await typed(() => type(script))
    const shown = fences[index + 1]
    if (shown?.language === 'json') {
      const answer: unknown = JSON.parse(output)
      expect(unlike(JSON.parse(shown.text), answer), `line ${line}: ${output}`).to.equal(undefined)
      // Elsewhere nothing follows that needs it, but where the page asks next what became of it.
      const network = networkOf(text)
      const next = fences.slice(index + 1).find((each) => each.language === 'sh')
      if (network.chain === 'ethereum' || next?.text.includes('/network/poll')) await confirmed(answer, (txHash) => poll(txHash, network))
    } else if (shown?.language === 'text') expect(printed(output), `line ${line}`).to.equal(printed(shown.text))
  }
}

/** Of the body of a request, or of its query; the devnet's where it names none. */
function networkOf(text: string): Network {
  const [, chain = 'ethereum', network = 'local'] = /\bchain(?:": "|=)([\w-]+)(?:", "|&)network(?:": "|=)([\w-]+)/.exec(text) ?? []
  return { chain, network }
}

/** What starts with its first request says so, and is asked again. */
async function typed(type: () => string | Promise<string>): Promise<string> {
  const last = Date.now() + 180_000
  for (;;) {
    const output = await type()
    if (!output.includes('"name":"SERVICE_UNINITIALIZED"') || Date.now() > last) return output
    await new Promise((resolve) => setTimeout(resolve, 2_000))
  }
}

/** A person takes longer to the next command than the chain to the next block. */
async function confirmed(answer: unknown, poll: (txHash: string) => ReturnType<Place['poll']>): Promise<void> {
  if (typeof answer !== 'object' || answer === null || !('txHash' in answer)) return
  let last: unknown
  for (let tries = 0; tries < 400; tries++) {
    const polled = await poll(String(answer.txHash))
    if (polled.txState === 'CONFIRMED') return
    last = polled
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`${String(answer.txHash)} was not confirmed: ${JSON.stringify(last)}`)
}
