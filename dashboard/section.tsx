// A part of a view with its heading, and what is said while it has no answer or an old one.
import type { ComponentChildren } from 'preact'
import { Age } from './age.tsx'
import type { Resource } from './resource.ts'
import { Text } from './text.tsx'

interface SectionProps<T> {
  readonly title: string
  readonly of: Resource<T>
  children(data: T): ComponentChildren
  /** Beside the heading. */
  readonly aside?: ComponentChildren
}

export function Section<T>({ title, of: { data, at, refusal }, children, aside }: SectionProps<T>) {
  const id = `section-${title.toLowerCase().replaceAll(/\W+/g, '-')}`
  return (
    <section aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside && <div class="aside">{aside}</div>}
      </header>
      {refusal && (
        <p class="refusal">
          <Text of={refusal.message} />
          {at !== undefined && (
            <>
              {' '}
              What is shown is of <Age of={at} />.
            </>
          )}
        </p>
      )}
      {data !== undefined ? children(data) : !refusal && <p class="none">Loading…</p>}
    </section>
  )
}
