// SPDX-License-Identifier: Apache-2.0
// Small parts that all pages share.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Cell, clock, useCell } from './store';
import { distanceText, fullTime, jobZone, second, shownZone, timeText } from './time';
import { words } from './words';

export type Tone = 'good' | 'warn' | 'bad' | 'idle' | 'run';

export function Chip(p: { tone: Tone; children: ComponentChildren; title?: string | undefined }): JSX.Element {
  return (
    <span class={'chip ' + p.tone} title={p.title}>
      {p.children}
    </span>
  );
}

/** An instant in the chosen zone. */
export function Time(p: {
  at: string | null | undefined;
  zone?: string | undefined;
  distance?: boolean;
}): JSX.Element | null {
  useCell(clock);
  useCell(jobZone);
  if (!p.at) return <span class="muted">–</span>;
  const zone = shownZone(p.zone || undefined);
  return (
    <time dateTime={p.at} title={fullTime(p.at, zone)}>
      {timeText(p.at, zone)}
      {p.distance && <Distance at={p.at} />}
    </time>
  );
}

export function Distance(p: { at: string }): JSX.Element {
  useCell(second);
  return <span class="muted"> {distanceText(p.at)}</span>;
}

/** A modal dialog: the browser keeps the focus within, closes it with Escape, and gives the focus back. */
export function Dialog(p: { title: string; close(): void; children: ComponentChildren }): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    element.current?.showModal();
    element.current?.querySelector<HTMLElement>('[data-first]:not([data-first="false"])')?.focus();
    return () => before?.isConnected && before.focus();
  }, []);
  return (
    <dialog ref={element} aria-labelledby="dialog-title" onClose={p.close} onCancel={p.close}>
      <div class="stack">
        <h1 id="dialog-title">{p.title}</h1>
        {p.children}
      </div>
    </dialog>
  );
}

interface Toast {
  text: string;
  tone: 'good' | 'bad';
}
const toasts = new Cell<Toast[]>([]);

export function say(text: string, tone: 'good' | 'bad' = 'good'): void {
  const toast = { text, tone };
  toasts.set([...toasts.get(), toast].slice(-4));
  if (tone === 'good') setTimeout(() => toasts.set(toasts.get().filter((x) => x !== toast)), 6000);
}

export function Toasts(): JSX.Element {
  const t = words();
  const all = useCell(toasts);
  return (
    <div class="toasts" role="log" aria-label={t.messages}>
      {all.map((toast) => (
        <div key={toast} class={toast.tone}>
          <span class="grow wrap lines">{toast.text}</span>
          <button
            type="button"
            class="plain"
            aria-label={t.close}
            onClick={() => toasts.set(all.filter((x) => x !== toast))}
          >
            ×
          </button>
        </div>
      ))}
    </div>
  );
}

export function Notice(p: { tone?: 'bad' | 'warn'; children: ComponentChildren }): JSX.Element {
  return (
    <div class={'notice ' + (p.tone ?? '')} role={p.tone === 'bad' ? 'alert' : 'status'}>
      {p.children}
    </div>
  );
}

/** The value when it has not changed for a while. */
export function useRest<T>(value: T, ms: number): T {
  const [rest, setRest] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRest(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return rest;
}

export function Card(p: { title: string; wide?: boolean; children: ComponentChildren }): JSX.Element {
  return (
    <section class={'card' + (p.wide ? ' wide' : '')}>
      <h2>{p.title}</h2>
      {p.children}
    </section>
  );
}
