// The forms that chat services want, in which no word of a message can address anybody or become markup.
import { isObject } from '../base/json.ts'
import type { ChannelSettings } from '../config/alerts-file.ts'
import { headingOf, linesOf, type AlertMessage } from './message.ts'

type Template = NonNullable<ChannelSettings['template']>

const textOf = (message: AlertMessage): string => [headingOf(message), ...linesOf(message)].join('\n')

/** https://docs.slack.dev/messaging/formatting-message-text: these three make `<!channel>` and links. */
const escapeSlack = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const escapeMarkdown = (text: string): string => text.replaceAll(/[\\`*_{}[\]()#+!|<>~]/g, String.raw`\$&`)

/** As many items as the service takes, so that what to do is always there. A service takes no half of a character either: the message would never arrive. */
function within(max: number, message: AlertMessage, escape = (text: string): string => text): string {
  const text = escape(textOf(message))
  if (text.length <= max) return text
  return message.items.length > 1
    ? within(max, { ...message, items: message.items.slice(0, -1) }, escape)
    : text.slice(0, max).toWellFormed()
}

/** Mattermost has no field that keeps @all from calling everybody: another character that looks like it does. */
const withoutMentions = (text: string): string => text.replaceAll('@', '\u{ff20}')

const bodies: Readonly<Record<Template, (message: AlertMessage) => object>> = {
  json: (message) => ({ ...message, text: textOf(message) }),
  slack: (message) => ({ text: escapeSlack(textOf(message)), mrkdwn: false, unfurl_links: false, unfurl_media: false }),
  // At most 2,000 characters.
  discord: (message) => ({
    content: within(1_990, message, escapeMarkdown),
    allowed_mentions: { parse: [] },
    flags: 4, // no previews of links
  }),
  mattermost: (message) => ({ text: withoutMentions(escapeMarkdown(textOf(message))) }),
  // For a workflow "When a Teams webhook request is received".
  teams: (message) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [headingOf(message), ...linesOf(message)].map((line, index) => ({
            type: 'TextBlock',
            text: escapeMarkdown(line),
            wrap: true,
            ...(index === 0 && { weight: 'Bolder' }),
          })),
        },
      },
    ],
  }),
}

/** The body of a webhook. */
export function bodyOf(message: AlertMessage, { template = 'json', body }: Pick<ChannelSettings, 'template' | 'body'>): string {
  return JSON.stringify(body === undefined ? bodies[template](message) : filled(body, wordsFor(message)))
}

const wordsFor = (message: AlertMessage): Readonly<Record<string, string>> => ({
  text: textOf(message),
  title: headingOf(message),
  severity: message.severity,
  status: message.status,
  rule: message.rule,
  count: String(message.count),
})

/** Only texts are filled in, so that no word of a message changes the form. */
function filled(value: unknown, words: Readonly<Record<string, string>>): unknown {
  if (typeof value === 'string') return value.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => words[name] ?? whole)
  if (Array.isArray(value)) return value.map((each: unknown) => filled(each, words))
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each, words)])) : value
}

/** Without a mode of markup it is text, whatever is in it. At most 4,096 characters. */
export const telegramBody = (message: AlertMessage, chat: string): string =>
  JSON.stringify({ chat_id: chat, text: within(4_000, message), link_preview_options: { is_disabled: true } })
