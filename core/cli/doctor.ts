import { styleText } from 'node:util'
import { Command } from 'commander'
import type { Settings } from '../config/settings.ts'
import type { Finding } from '../doctor/finding.ts'

const signs = { good: styleText('green', '✓'), warn: styleText('yellow', '!'), bad: styleText('red', '✗') }

/** `sluice doctor`: what is wrong and what to do about it; exits with 1 when something must be done. */
export function doctorCommand(settingsOf: () => Settings): Command {
  return new Command('doctor')
    .description('check configuration, certificates, keystore, store, plugins, nodes, disk and clock')
    .action(async () => {
      const settings = settingsOf()
      const { examine } = await import('../doctor.ts')
      const findings = await examine(settings)
      console.log(findings.map(show).join('\n'))
      const bad = findings.filter(({ state }) => state === 'bad').length
      console.log(bad === 0 ? '\nNothing stops the server from starting.' : `\n${bad} ${bad === 1 ? 'thing' : 'things'} to mend.`)
      process.exit(bad === 0 ? 0 : 1)
    })
}

function show(finding: Finding): string {
  const line = `${signs[finding.state]} ${finding.part.padEnd(13)} ${finding.what}`
  return finding.state === 'good' || finding.cure === undefined ? line : `${line}\n  ${' '.repeat(13)} → ${finding.cure}`
}
