// Times and ages, by the server's clock: the browser's may be wrong.
import { useEffect, useState } from 'preact/hooks'
import { serverNow } from './api.ts'

const units = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
] as const

export function duration(seconds: number): string {
  for (const [size, unit] of units) if (seconds >= size) return `${Math.floor(seconds / size)} ${unit}`
  return `${Math.max(0, Math.floor(seconds))} s`
}

/** How long ago a moment was, in milliseconds since the Unix epoch. It counts on while it is seen. */
export function Age({ of, ago = true }: { of: number; ago?: boolean }) {
  const seconds = (serverNow() - of) / 1000
  const [, tick] = useState(0)
  useEffect(() => {
    const timer = setTimeout(() => tick((count) => count + 1), seconds < 60 ? 1_000 : 30_000)
    return () => clearTimeout(timer)
  })
  const moment = new Date(of)
  return (
    <time dateTime={moment.toISOString()} title={moment.toLocaleString()}>
      {duration(seconds)}
      {ago && ' ago'}
    </time>
  )
}

/** How long it is until a moment. */
export const until = (moment: number): string => duration((moment - serverNow()) / 1000)

export const Moment = ({ of }: { of: number }) => {
  const moment = new Date(of)
  return <time dateTime={moment.toISOString()}>{moment.toLocaleString()}</time>
}
