import { homedir } from 'node:os'
import { expect } from 'chai'
import { pathsHider } from '../../core/config/shown-paths.ts'
import { codeRoot } from '../../core/base/layout.ts'

describe('texts that callers are shown', () => {
  const hide = pathsHider({
    home: '/srv/sluice',
    confDir: '/etc/sluice/conf.d',
    data: { dir: '/srv/sluice/data' },
    ssl: { certsDir: '/srv/sluice/certs' },
    plugins: { folders: ['/opt/own-plugins'] },
  })

  for (const [text, shown] of [
    ['{"folder":"/srv/sluice/data/archive"}', '{"folder":"data/archive"}'],
    ['/srv/sluice/data', 'data'],
    ['"/srv/sluice/data": no room', '"data": no room'],
    ['/etc/sluice/conf.d/server.yml:3 is wrong', 'conf/server.yml:3 is wrong'],
    ['in /srv/sluice/certs/ca_cert.pem', 'in certs/ca_cert.pem'],
    ['There is no folder /opt/own-plugins/a (/opt/own-plugins)', 'There is no folder own-plugins/a (own-plugins)'],
    [`${homedir()}/other/file.ts`, 'other/file.ts'],
    [new URL('core/main.ts', codeRoot).pathname, 'core/main.ts'],
  ] as const)
    it(`name ${JSON.stringify(text)} without where the server lies`, () => expect(hide(text)).to.equal(shown))

  it('keep what only looks like it: URLs, other folders, and paths of the interface', () => {
    for (const text of [
      'https://a.example/srv/sluice/data',
      '/srv/sluice-2/data/a',
      '/srv/sluice/database',
      '/network/tokens',
      '/mnt/srv/sluice/data',
    ])
      expect(hide(text), text).to.equal(text.replace('/srv/sluice/database', 'database'))
  })
})
