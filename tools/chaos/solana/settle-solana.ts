import { setTimeout as sleep } from 'node:timers/promises'
import { largestAge, finalizedDepth } from '../../solana-node/ledger/ledger.ts'
import { takesAll } from '../../solana-node/ledger/leaders.ts'
import { readWire } from '../../solana-node/ledger/read-wire.ts'
import { signedBytes } from '../checker/signed-bytes.ts'
import type { History } from '../history.ts'
import type { Random } from '../random.ts'
import { settle } from '../settle.ts'
import type { SolanaStage } from './solana-stage.ts'

/** I6: what no leader took is over when the last block that could have it is final; some more, since several come between two looks. */
const allowed = Number(largestAge + finalizedDepth) + 40
const blocksAtOnce = 8
/** The head, the look that follows from it, and one that was under way before. */
const requestsOfALook = 3
const patienceMs = 5_000

export async function settleSolana(stage: SolanaStage, random: Random): Promise<History> {
  const { cluster, proxy, wallets } = stage
  cluster.pause()
  cluster.lead(takesAll)
  const seen = await settle(stage, random, {
    allowed,
    async pass() {
      cluster.blocks(blocksAtOnce)
      const seen = stage.asked() + requestsOfALook
      for (const end = performance.now() + patienceMs; stage.asked() < seen && performance.now() < end;) await sleep(50)
      return blocksAtOnce
    },
  })
  const signed = signedBytes({ journal: seen.journal, sent: proxy.sent }, readSolana)
  const { blocks, tip } = cluster.ledger
  const landed = blocks.flatMap(({ height, landed }) => landed.map((each) => ({ ...each, height })))
  return {
    ...seen,
    mined: landed
      .filter(({ wire }) => wallets.includes(wire.payer))
      .map(({ signature, wire, outcome, height }) => ({
        txHash: signature,
        from: wire.payer,
        to: '',
        nonce: 0,
        valueRaw: 0n,
        block: Number(height),
        ok: outcome.error === null,
      })),
    nextNonces: new Map(),
    signed,
    live: new Set(signed.flatMap(({ txHash, blockhash = '' }) => (cluster.ledger.isRecent(blockhash, tip) ? txHash : []))),
  }
}

function readSolana(raw: string) {
  const { signature, payer, message } = readWire(Buffer.from(raw.slice(2), 'hex'))
  return { txHash: signature, from: payer, nonce: 0, valueRaw: 0n, blockhash: message.lifetimeToken }
}
