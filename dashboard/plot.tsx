// A plot, and its figures as a table for those who do not see it.
import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { Table } from './table.tsx'

export interface Series {
  readonly name: string
  /** Seconds since the Unix epoch. */
  readonly times: readonly number[]
  /** Shares and sums for the eye: amounts to the unit stand in tables. */
  readonly values: readonly number[]
}

const height = 180

export function Plot({ of: { name, times, values } }: { of: Series }) {
  const place = useRef<HTMLDivElement>(null)
  const [isDark, setDark] = useState(matchMedia('(prefers-color-scheme: dark)').matches)
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)')
    const changed = () => setDark(query.matches)
    query.addEventListener('change', changed)
    return () => query.removeEventListener('change', changed)
  }, [])
  const [isRefused, refuse] = useState(false)
  const data: uPlot.AlignedData = [[...times], [...values]]
  const newest = useRef(data)
  newest.current = data
  const plot = useRef<uPlot | undefined>(undefined)
  useEffect(() => {
    const { current } = place
    if (!current) return
    let end: (() => void) | undefined = () => {}
    const draw = (UPlot: typeof uPlot): void => {
      if (!end) return
      const made = new UPlot(optionsOf(name, current, isDark), newest.current, current)
      plot.current = made
      const watcher = new ResizeObserver(() => made.setSize({ width: current.clientWidth, height }))
      watcher.observe(current)
      end = () => {
        watcher.disconnect()
        made.destroy()
      }
    }
    // Apart from the page, of which most views draw nothing.
    import('uplot').then(
      (loaded) => draw(loaded.default),
      () => refuse(true),
    )
    return () => {
      end?.()
      end = undefined
    }
  }, [isDark])
  useEffect(() => plot.current?.setData(data), [times.join(), values.join()])
  const last = values.at(-1)
  return (
    <figure>
      <figcaption>{name}</figcaption>
      <div
        ref={place}
        role="img"
        aria-label={`${name}: ${values.length} points, the last is ${last === undefined ? 'none' : last.toPrecision(4)}`}
      />
      {isRefused && <p class="refusal">What draws it cannot be loaded: load the page again. Its figures are below.</p>}
      <details>
        <summary>
          Figures<span class="unseen"> of {name}</span>
        </summary>
        <Table
          caption={name}
          none="None yet."
          rows={times.map((time, index) => ({ time, value: values[index] ?? 0 }))}
          keyOf={({ time }) => String(time)}
          columns={[
            { name: 'When', cell: ({ time }) => new Date(time * 1000).toLocaleString() },
            { name: 'Value', end: true, cell: ({ value }) => value.toPrecision(4) },
          ]}
        />
      </details>
    </figure>
  )
}

function optionsOf(label: string, place: HTMLElement, isDark: boolean): uPlot.Options {
  const axis = { stroke: isDark ? '#a2adba' : '#566270', grid: { stroke: isDark ? '#333c47' : '#d5dae1' } }
  const fill = getComputedStyle(place).getPropertyValue('--calm-back')
  return {
    width: place.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    axes: [axis, { ...axis, size: 72, values: (_, ticks) => ticks.map((tick) => String(Number(tick.toPrecision(3)))) }],
    series: [{}, { label, stroke: isDark ? '#7cc7e8' : '#0b5f80', width: 2, points: { show: true }, fill }],
    scales: { y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.1 : 1] } },
  }
}
