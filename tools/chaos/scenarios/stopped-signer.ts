import { setTimeout as sleep } from 'node:timers/promises'
import { signerOf } from '../../../test/wallet/processes.ts'
import type { Random } from '../random.ts'
import type { Stage } from '../stage.ts'
import { createWorld } from '../world.ts'
import { amid } from '../traffic.ts'
import type { Scenario } from './scenario.ts'

interface Size {
  trades: number
  stops: number
}

/** The process that signs is stopped again and again while bots trade: some go on in time, the others are killed and replaced. */
export const stoppedSigner: Scenario<Size> = {
  name: 'stopped signer',
  small: { trades: 60, stops: 3 },
  full: { trades: 2_000, stops: 60 },
  async run(size, random, judge) {
    const world = await createWorld({ random })
    return judge(world, () => amid(world, { trades: size.trades, parallel: 8, pauseMs: 30 }, random, (own) => stop(world, size, own)))
  },
}

async function stop({ servers: [server] }: Stage, { stops }: Size, random: Random): Promise<Record<string, unknown>> {
  if (!server) throw new Error('There is no server whose signer could be stopped.')
  let replaced = 0
  for (let count = 0; count < stops; count += 1) {
    await sleep(random.between(200, 1_500))
    const { signer } = signerOf(server.pid)
    // It is just being replaced.
    if (signer === 0 || !signal(signer, 'SIGSTOP')) continue
    if (random.chance(0.25)) {
      await sleep(random.between(50, 500))
      // On a busy machine it may be replaced by now.
      signal(signer, 'SIGCONT')
    } else {
      for (let next = signer; next === signer || next === 0; next = signerOf(server.pid).signer) await sleep(100)
      replaced += 1
    }
  }
  return { 'signers replaced': replaced }
}

/** Whether the process is still there. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
}
