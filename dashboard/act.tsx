// What a person does on the page: asked before it is done, done once, and its outcome said where it was asked for.
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Refusal } from './api.ts'
import { useResource } from './resource.ts'
import { Text } from './text.tsx'

/** Who the certificate is and what it may do: buttons that it may not use are not shown. */
export const useCaller = () => useResource('/caller', {}, { everySeconds: 300 })

export function useMay(permission: string): boolean {
  const { data } = useCaller()
  return data?.permissions.includes(permission) ?? false
}

/** Who may trade may stop itself. */
export function useMayStop(client: string | undefined): boolean {
  const { data } = useCaller()
  const mayStop = useMay('stop')
  const mayTrade = useMay('trade')
  return mayStop || (mayTrade && client !== undefined && client === data?.client)
}

interface ActProps {
  readonly label: string
  /** Says of which one it is, where there are several on the page: it is part of the button's name. */
  readonly about?: string
  readonly danger?: boolean
  /** What will happen, in the dialog. */
  readonly question: ComponentChildren
  /** @returns what is said of it */
  act(): Promise<string>
}

export function Act({ label, about = '', danger = false, question, act }: ActProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const title = useId()
  const [isOpen, open] = useState(false)
  const [isActing, setActing] = useState(false)
  const [outcome, say] = useState<{ readonly text: string; readonly isRefusal: boolean }>()
  useEffect(() => {
    if (isOpen) dialog.current?.showModal()
  }, [isOpen])

  const confirm = async (): Promise<void> => {
    setActing(true)
    try {
      say({ text: await act(), isRefusal: false })
    } catch (error) {
      const { message } = error as Error
      // Without an answer nobody knows what became of it.
      const isUnknown = error instanceof Refusal && error.status === 0
      say({ text: isUnknown ? `${message} It may have been done: look before you try again.` : message, isRefusal: true })
    }
    setActing(false)
    dialog.current?.close()
  }

  return (
    <span class="act">
      <button type="button" class={danger ? 'danger' : ''} onClick={() => open(true)}>
        {label}
        {about !== '' && (
          <span class="unseen">
            {' '}
            <Text of={about} max={80} />
          </span>
        )}
      </button>
      <span role="status" class={outcome?.isRefusal ? 'refusal' : 'done'}>
        {outcome && <Text of={outcome.text} />}
      </span>
      {isOpen && (
        <dialog ref={dialog} aria-labelledby={title} onClose={() => open(false)}>
          <h2 id={title}>{label}?</h2>
          <div>{question}</div>
          <div class="buttons">
            <button type="button" class={danger ? 'danger' : ''} disabled={isActing} onClick={() => void confirm()}>
              {isActing ? 'Working…' : `Yes, ${label.toLowerCase()}`}
            </button>
            <button type="button" disabled={isActing} onClick={() => dialog.current?.close()}>
              No
            </button>
          </div>
        </dialog>
      )}
    </span>
  )
}
