import { expect } from 'chai'
import { bodyOf, telegramBody } from '../../core/alerts/templates.ts'
import { safeFinding, type AlertMessage } from '../../core/alerts/message.ts'
import type { ChannelSettings } from '../../core/config/alerts-file.ts'

const words = '<!channel> <@U1> @everyone @all [free](http://evil) *b* `c` & "quoted" {{rule}} \u202egnp\u200b\u0007'
const message: AlertMessage = {
  status: 'raised',
  rule: 'lowGas',
  severity: 'warning',
  title: 'Low on gas',
  remedy: 'Send some.',
  count: 12,
  items: [safeFinding({ subject: 'wallet', words })],
  at: 1_800_000_000_000,
  server: 'host',
}
const bodyBy = (of: Pick<ChannelSettings, 'template' | 'body'>): Record<string, unknown> => JSON.parse(bodyOf(message, of))

describe('what a chat is sent', () => {
  it('has no character that controls, hides or turns text, and no line is long', () => {
    const long = safeFinding({ subject: 's'.repeat(10_000), words: `${'w'.repeat(10_000)}\nline` })
    expect([long.subject.length, long.words.length]).to.deep.equal([201, 401])
    expect(message.items[0]?.words).to.not.match(/\p{C}/u)
  })

  it('addresses nobody in Slack', () => {
    const { text, mrkdwn } = bodyBy({ template: 'slack' })
    expect(mrkdwn).to.equal(false)
    expect(text).to.contain('&lt;!channel&gt; &lt;@U1&gt;').and.contain('&amp;').and.not.match(/<!|<@/)
    expect(text).to.match(/^\[WARNING\] Low on gas \(12\)\n- /)
    expect(text).to.contain('\n- and 11 more\nWhat to do: Send some.\nSluice, host, 2027-01-15 08:00:00 UTC')
  })

  it('addresses nobody in Discord, and is no markup there', () => {
    const body = bodyBy({ template: 'discord' })
    expect(body['allowed_mentions']).to.deep.equal({ parse: [] })
    expect(body['content'])
      .to.contain(String.raw`\[free\]\(http://evil\) \*b\*`)
      .and.not.match(/[^\\]\]\(/)
  })

  it('says what to do where a service takes fewer items than there are', () => {
    const items = Array.from({ length: 10 }, () => safeFinding({ subject: '', words: '*'.repeat(400) }))
    const { content } = JSON.parse(bodyOf({ ...message, items }, { template: 'discord' })) as { content: string }
    const { text } = JSON.parse(telegramBody({ ...message, items }, '1')) as { text: string }
    expect(content)
      .to.match(/\n- and 10 more\nWhat to do: Send some\.\nSluice, host, .*$/)
      .and.to.have.length.of.at.most(2_000)
    expect(text)
      .to.match(/\n- and 3 more\nWhat to do: Send some\.\nSluice, host, .*$/)
      .and.to.have.length.of.at.most(4_096)
  })

  it('has no half of a character where it is cut', () => {
    for (const server of ['', 'w', 'ww'].map((before) => before + '\u{1f600}'.repeat(3_000))) {
      const { content } = JSON.parse(bodyOf({ ...message, server }, { template: 'discord' })) as { content: string }
      const { text } = JSON.parse(telegramBody({ ...message, server }, '1')) as { text: string }
      expect([content.isWellFormed(), text.isWellFormed()], server).to.deep.equal([true, true])
    }
  })

  it('addresses nobody in Mattermost, and is no markup there or in Teams', () => {
    expect(bodyBy({ template: 'mattermost' })['text']).to.not.match(/@|[^\\]\]\(/)
    const teams = bodyOf(message, { template: 'teams' })
    expect(JSON.parse(teams)).to.have.nested.property('attachments[0].content.body[0].weight', 'Bolder')
    expect(teams).to.not.match(/[^\\]\]\(/)
  })

  it('is a form of the operator’s own, which no word of a message can change', () => {
    const body = { summary: '{{title}}: {{count}}', list: ['{{text}}'], kept: 7, unknown: '{{other}}' }
    const filled = bodyBy({ body })
    expect(filled).to.include({ summary: '[WARNING] Low on gas (12): 12', kept: 7, unknown: '{{other}}' })
    expect(filled['list']).to.have.length(1)
    // What stands in a message is not filled in again.
    expect(JSON.stringify(filled['list'])).to.contain('{{rule}}')
  })

  it('is plain text in Telegram, of a length that it takes', () => {
    const { text, parse_mode: mode } = JSON.parse(
      telegramBody({ ...message, items: Array.from({ length: 10 }, () => ({ subject: '', words: 'w'.repeat(500) })) }, '1'),
    ) as Record<string, string>
    expect([(text?.length ?? 0) <= 4_096, mode]).to.deep.equal([true, undefined])
  })
})
