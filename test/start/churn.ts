// Keeps 40 MB in use, of objects that each live long enough to become old, and prints how large the heap was at most.
import { limitHeap } from '../../core/base/memory.ts'

const [held, bytesEach, rounds] = [4_000, 10_000, 4]

if (process.argv[2] === 'limited') limitHeap()
const kept: number[][] = []
let largest = 0
for (let made = 0; made < held * rounds; made++) {
  kept[made % held] = Array.from({ length: bytesEach / 8 }, (_, index) => index + 0.5)
  if (made % 100 === 0) largest = Math.max(largest, process.memoryUsage().heapTotal)
}
console.log(JSON.stringify({ inUse: held * bytesEach, largest }))
