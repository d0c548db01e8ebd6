/** What a node may answer: JSON whose integers are exact. Fields that are undefined are left out. */
export type Answer = null | boolean | number | bigint | string | readonly Answer[] | { readonly [key: string]: Answer | undefined }

/** JSON in which a bigint is an integer with all of its digits, as Solana's nodes write it. */
export function exactJson(answer: Answer): string {
  if (typeof answer === 'bigint') return answer.toString()
  if (answer === null || typeof answer !== 'object') return JSON.stringify(answer)
  if (isList(answer)) return `[${answer.map(exactJson).join(',')}]`
  const fields = Object.entries(answer).flatMap(([key, value]) =>
    value === undefined ? [] : [`${JSON.stringify(key)}:${exactJson(value)}`],
  )
  return `{${fields.join(',')}}`
}

const isList = (answer: object): answer is readonly Answer[] => Array.isArray(answer)
