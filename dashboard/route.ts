// Which part of the page is shown, and what it is narrowed to: it stands behind the #, so that it survives a reload and can be kept as a bookmark.
import { useEffect, useState } from 'preact/hooks'

export interface Route {
  readonly view: string
  readonly query: Readonly<Record<string, string>>
}

function readRoute(): Route {
  const [view = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  return { view, query: Object.fromEntries(new URLSearchParams(query)) }
}

export function useRoute(): Route {
  const [route, set] = useState(readRoute)
  useEffect(() => {
    const changed = () => set(readRoute())
    addEventListener('hashchange', changed)
    return () => removeEventListener('hashchange', changed)
  }, [])
  return route
}

export function linkTo(view: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '')
  return `#/${view}${given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`}`
}
