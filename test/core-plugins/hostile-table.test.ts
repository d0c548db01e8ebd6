// What once got through, and what tries each of it now: a row of the table of hostile plugins, or a test elsewhere.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { hangingLater, hangingStarts, harms } from './host-harms.ts'
import { refusedFixtures, refusedInHosts } from './hostile-plugins.ts'

const tests = fileURLToPath(new URL('..', import.meta.url))
const rows: ReadonlySet<string> = new Set(
  [refusedFixtures, refusedInHosts, harms, hangingLater, hangingStarts].flatMap((each) => Object.keys(each)),
)

/** A row by its name, or a test by its file and a part of its title. */
const triedBy: Readonly<Record<string, readonly (string | readonly [file: string, title: string])[]>> = {
  'only data, whose defaults name a thief as a spender': [
    'spender-of-a-stranger',
    ['limits/simulated-plans.rest', 'get no signature if they ${what}'],
    ['http/allowed-plugins.rest', 'need allowances in exact amounts'],
  ],
  'answers that change after they were checked': [
    'getters that change',
    ['core-plugins/hostile-answers', 'gives each field once: a getter cannot tell the check one amount and the trade another'],
    ['core-plugins/hostile-answers', 'becomes a copy: a step that changes later is not the step that was checked'],
    ['core-plugins/hostile-answers', 'has properties that are read once, when the plugin is loaded'],
  ],
  'a refused plugin at a command that handles keys': [
    'inspector',
    ['cli/wallet-and-plugins.rest', 'runs no code of third parties where a key is handled'],
    ['cli/plugin-consent.rest', 'comes before any of its code runs, in a start, in doctor and in every other command'],
  ],
  "the signer's channel": ['its channel', 'forged answers', ['wallet/signer-channel.rest', 'gives it no policy']],
  'another recipient, or more than was asked for': [
    ['limits/simulated-plans.rest', 'get no signature if they ${what}'],
    ['http/allowed-plugins.rest', 'get no signature where its quote is far worse'],
    ['http/allowed-plugins.rest', 'have the fill that their events tell, whatever the plugin says'],
  ],
  "variables of the environment in a plugin's own file": ['variables-in-defaults'],
  'a schema that never ends': ['schema-backtracks', 'schema-doubles', 'schema-of-itself'],
  'failures in the background': [
    'no error listener',
    'thrown proxy',
    'delayed exit',
    ['core-plugins/harms.rest', 'does not end the server'],
  ],
  'an event that nobody can read': ['event-malformed'],
  'answers without an end': ['many bits', 'million hops', 'long message', 'refusals-endless'],
  'code that deploys on the devnet': [
    ['devnet/outside.rest', 'leaves nothing where it ${what}'],
    ['devnet/outside.rest', 'is not run where its plugin is refused'],
    ['devnet/outside.rest', 'leaves the exchanges of the release as they were'],
  ],
  'an import that hangs': ['import-waits', 'loop-at-import', ['core-plugins/contained-later.rest', 'wait for no other one']],
  'a member that hangs': [
    'create-waits',
    'loop-in-create',
    'waits-at-start',
    'loops-at-start',
    ['core-plugins/host', 'ends where start() ${what} after a restart'],
    'endless quote',
    'loop',
    'endless swap',
    'sleep in swap',
    'endless fill',
    'loop in fill',
    'waits-later',
    'loops-later',
    ['core-plugins/hostile-hosts.rest', 'does not keep the server from stopping'],
  ],
  'links, native addons and scripts of an installation': [
    'native addon',
    ['core-plugins/consent', 'leaves out a plugin with ${what}, and names the file and a remedy'],
    ['core-plugins/load-plugins', 'refuses links to other folders and files'],
    ['cli/hostile-plugins.rest', 'none of whose scripts for its installation is run'],
  ],
  'files other than those that were allowed': [
    ['core-plugins/consent', 'leaves out a plugin of which ${what} since'],
    ['core-plugins/consent', 'runs no copy that somebody changed'],
    ['cli/hostile-plugins.rest', 'names what has another hash in sluice.lock'],
    ['core-plugins/service.rest', 'what is not a copy with that hash'],
  ],
}

describe('what once got through', () => {
  for (const [what, tries] of Object.entries(triedBy))
    it(`has a test in every run: ${what}`, () => {
      for (const each of tries) {
        if (typeof each === 'string') {
          expect(rows.has(each), each).to.equal(true)
          continue
        }
        const [file, title] = each
        const place = path.join(tests, `${file}.test.ts`)
        expect(existsSync(place) && readFileSync(place, 'utf8').includes(title), `${place} has a test “${title}”`).to.equal(true)
      }
    })
})
