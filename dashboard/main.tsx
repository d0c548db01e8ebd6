import { render } from 'preact'
import { App } from './app.tsx'
import { followEvents } from './events.ts'
import './style.css'

const root = document.querySelector('#app')
if (root) {
  followEvents()
  render(<App />, root)
}
