// Buying on an exchange that only sells: it says what an input gives, and the input that gives an amount is searched for.

/** Points that are asked about at a time. */
const perRound = 16
/** Smooth prices need about four; a round narrows the bracket to an eighth at least. */
const maxRounds = 100
/** Where an exchange refuses all of the first round: so many rounds try powers of 16, up to the largest amount that there is. */
const sizeRounds = 4
/** No chain has more. */
const highestRaw = 2n ** 256n - 1n

export interface SmallestInput {
  /** What is to come out, in smallest units. */
  readonly wantedRaw: bigint
  /** A first guess, such as the amount at the spot price. */
  readonly guessRaw?: bigint
  /** The most that may go in. */
  readonly maxRaw?: bigint
}

/** What an input gives; undefined where the exchange refuses it: as too large, or as so small that nothing would come out. */
type Output = bigint | undefined

/**
 * The smallest input that gives at least what is wanted; undefined where no input does. A unit less gives less, so that nobody pays too much, and
 * what comes out is never less than what was quoted. Outputs must grow with inputs.
 * @param outputOf what an input gives, by arithmetic
 */
export function smallestInput(search: SmallestInput, outputOf: (inRaw: bigint) => Output): bigint | undefined {
  const steps = searchSteps(search)
  let step = steps.next()
  while (!step.done) step = steps.next(step.value.map((each) => outputOf(each)))
  return step.value
}

/**
 * The same of an exchange that is asked.
 * @param outputsOf what these inputs give, in their order: in one round trip, and all at the same block
 */
export async function readSmallestInput(
  search: SmallestInput,
  outputsOf: (inRaws: readonly bigint[]) => Promise<readonly Output[]>,
): Promise<bigint | undefined> {
  const steps = searchSteps(search)
  let step = steps.next()
  while (!step.done) {
    const outputs = await outputsOf(step.value)
    if (outputs.length !== step.value.length)
      throw new Error(`readSmallestInput: ${outputs.length} outputs were returned for ${step.value.length} inputs; return one for each`)
    step = steps.next(outputs)
  }
  return step.value
}

/** A bracket around the answer: too little comes out of the lower end. */
interface Bracket {
  low: bigint
  /** Undefined where it is refused, as too small. */
  lowOut: Output
  high: bigint
  /** Unknown until an input was found that gives enough; also where the exchange refuses it. */
  highOut: Output
  isHighEnough: boolean
  /** The smallest input that the exchange was seen to take: what it refuses below is too small, above it too large. */
  taken: bigint | undefined
}

function* searchSteps({
  wantedRaw,
  guessRaw = 1n,
  maxRaw = highestRaw,
}: SmallestInput): Generator<readonly bigint[], bigint | undefined, readonly Output[]> {
  if (wantedRaw <= 0n) return 0n
  const bracket: Bracket = { low: 0n, lowOut: 0n, high: maxRaw + 1n, highOut: undefined, isHighEnough: false, taken: undefined }
  let first = guessRaw > 0n ? (guessRaw < maxRaw ? guessRaw : maxRaw) : 1n
  for (let round = 0; round < maxRounds && bracket.high - bracket.low > 1n; round += 1) {
    const points = bracket.isHighEnough
      ? narrowing(bracket, wantedRaw)
      : round > 0 && bracket.taken === undefined
        ? everySize(bracket, round)
        : widening(bracket, first)
    const outputs = yield points
    const taken = points.find((_, index) => outputs[index] !== undefined)
    if (taken !== undefined && (bracket.taken === undefined || taken < bracket.taken)) bracket.taken = taken
    if (bracket.taken === undefined) {
      // Nothing tells yet whether these inputs are too small or too large.
      if (round < sizeRounds) continue
      return undefined
    }
    for (const [index, inRaw] of points.entries()) take(bracket, inRaw, outputs[index], wantedRaw)
    first = bracket.low * 2n
  }
  if (bracket.high - bracket.low > 1n)
    throw new Error('smallestInput: the outputs do not grow with the inputs, so no smallest input was found; check the outputs')
  // The smallest input that is taken at all. A call that failed for another reason must not make anybody pay more than is needed.
  if (bracket.isHighEnough && bracket.lowOut === undefined && (yield [bracket.low])[0] !== undefined)
    throw new Error('smallestInput: an input was refused once and taken once, so no smallest input was found; check the outputs')
  return bracket.isHighEnough ? bracket.high : undefined
}

function take(bracket: Bracket, inRaw: bigint, out: Output, wantedRaw: bigint): void {
  if (inRaw <= bracket.low || inRaw >= bracket.high) return
  const isTooSmall = out === undefined && bracket.taken !== undefined && inRaw < bracket.taken
  if (isTooSmall) Object.assign(bracket, { low: inRaw, lowOut: undefined })
  else if (out === undefined) Object.assign(bracket, { high: inRaw, highOut: undefined, isHighEnough: false })
  else if (out >= wantedRaw) Object.assign(bracket, { high: inRaw, highOut: out, isHighEnough: true })
  else Object.assign(bracket, { low: inRaw, lowOut: out })
}

/** From a guess upwards, over all sizes between what is too little and what is refused, and evenly: either may be near. */
function widening(bracket: Bracket, first: bigint): readonly bigint[] {
  const { low, high } = bracket
  const some = perRound / 4
  const width = high - low
  const bits = width.toString(2).length
  const upwards = first > low ? Array.from({ length: some }, (_, step) => first << BigInt(4 * step)) : []
  const sizes = Array.from({ length: some }, (_, step) => low + (width >> BigInt(1 + Math.floor((bits * step) / some))))
  return inside(bracket, [...upwards, ...sizes, ...evenly(bracket, perRound - 2 * some - 1), high - 1n])
}

/** In round 1, 2, …: every fourth power of 16, each time others. */
const everySize = (bracket: Bracket, round: number): readonly bigint[] =>
  inside(
    bracket,
    Array.from({ length: perRound }, (_, step) => 1n << BigInt(4 * (sizeRounds * step + round - 1))),
  )

/** Around the point on the chord: outputs bend below it, so that the answer is just beneath. Between neighbouring outputs it says nothing. */
function narrowing(bracket: Bracket, wantedRaw: bigint): readonly bigint[] {
  const { low, lowOut = 0n, high, highOut = lowOut } = bracket
  if (highOut - lowOut <= 1n) return inside(bracket, evenly(bracket, perRound))
  const onChord = low + ((wantedRaw - lowOut) * (high - low)) / (highOut - lowOut) + 1n
  const half = perRound / 2
  const beneath = Array.from({ length: half }, (_, step) => onChord - (step === 0 ? 0n : (onChord - low) >> BigInt(8 * (half - step) - 4)))
  return inside(bracket, [...beneath, onChord - 2n, ...evenly(bracket, half - 1)])
}

const evenly = ({ low, high }: Bracket, parts: number): readonly bigint[] =>
  Array.from({ length: parts }, (_, step) => low + ((high - low) * BigInt(step + 1)) / BigInt(parts + 1))

function inside({ low, high }: Pick<Bracket, 'low' | 'high'>, points: readonly bigint[]): readonly bigint[] {
  const all = [...new Set(points)].filter((each) => each > low && each < high)
  return (all.length > 0 ? all : [low + (high - low) / 2n]).toSorted((a, b) => (a < b ? -1 : 1))
}
