// SPDX-License-Identifier: Apache-2.0
// A command: what it would do, a confirmation, and what became of it.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { newKey, Problem, problemText } from './api';
import type { Giving } from './data';
import { Cell, useCell } from './store';
import { Dialog, Notice, say } from './ui';
import { words, wordsNow } from './words';

/** What the server says of a command. */
export interface Effect {
  effect: string; // done, unchanged, repeated, planned
  text: string;
}

export interface Command {
  /** `Disable` */
  verb: string;
  /** What it is about, each on its own: `settle`. */
  subjects: string[];
  /** Sends it for one subject. A dry run writes nothing. */
  send(subject: string, by: Giving): Promise<Effect>;
  /** It stops work or removes something, so the reader types the name. */
  isGrave?: boolean;
  /** Called when at least one has been carried out. */
  done?(): void;
}

const asked = new Cell<Command | null>(null);

/** Opens the confirmation. */
export function give(command: Command): void {
  asked.set(command);
}

/** A button for a command. */
export interface Action {
  title: string;
  run(): void;
  hint?: string;
  isGrave?: boolean;
}

export function Actions(p: { all: Action[] }): JSX.Element {
  return (
    <>
      {p.all.map((a) => (
        <button key={a.title} type="button" class={a.isGrave ? 'danger' : ''} title={a.hint} onClick={a.run}>
          {a.title}
        </button>
      ))}
    </>
  );
}

/** What can be done with the selected rows; nothing without any. */
export function SelectionBar(p: { count: number; all: Action[]; clear(): void }): JSX.Element | null {
  const t = words();
  if (!p.count) return null;
  return (
    <div class="bar" role="region" aria-label={t.selected(p.count)}>
      <b class="grow">{t.selected(p.count)}</b>
      <Actions all={p.all} />
      <button type="button" class="plain" onClick={p.clear}>
        {t.noneSelected}
      </button>
    </div>
  );
}

const previewsMax = 20; // of many subjects, only so many dry runs are asked for

export function CommandDialog(): JSX.Element | null {
  const command = useCell(asked);
  return command && <Confirmation key={command} command={command} />;
}

interface Result {
  subject: string;
  text: string;
  tone: '' | 'bad' | 'unknown';
  isAsked?: boolean; // the server has not answered yet
}

function Confirmation(p: { command: Command }): JSX.Element {
  const t = words();
  const { command } = p;
  const [preview, setPreview] = useState<Result[]>([]);
  const [results, setResults] = useState<Result[]>([]);
  const [busy, setBusy] = useState(false);
  const [typed, setTyped] = useState('');
  const stop = useRef(new AbortController());
  const keys = useRef(new Map<string, string>()); // one for each subject, so that a repetition is no second command
  const single = command.subjects.length === 1 ? command.subjects[0]! : undefined;
  const asking = command.subjects.slice(0, previewsMax);
  const close = () => asked.set(null);

  const send = async (subject: string, dryRun: boolean): Promise<Result> => {
    const key = keys.current.get(subject) ?? newKey();
    if (!dryRun) keys.current.set(subject, key);
    try {
      const effect = await command.send(subject, { key: dryRun ? newKey() : key, dryRun, signal: stop.current.signal });
      return { subject, text: effect.text, tone: '' };
    } catch (e) {
      const isUnknown = e instanceof Problem && e.isOutcomeUnknown;
      return {
        subject,
        text: isUnknown && e.status === 0 ? wordsNow().outcomeUnknown : problemText(e),
        tone: isUnknown ? 'unknown' : 'bad',
      };
    }
  };
  useEffect(() => {
    void (async () => {
      for (const subject of asking) {
        const result = await send(subject, true);
        if (stop.current.signal.aborted) return;
        setPreview((all) => [...all, result]);
      }
    })();
    return () => stop.current.abort();
  }, []);

  const carryOut = async (subjects: string[]) => {
    setBusy(true);
    const all: Result[] = results.filter((r) => !subjects.includes(r.subject));
    for (const subject of subjects) {
      all.push(await send(subject, false));
      if (stop.current.signal.aborted) return;
      setResults([...all]);
    }
    setBusy(false);
    const failed = all.filter((r) => r.tone);
    if (failed.length < all.length) command.done?.();
    if (failed.length) return;
    say(single ? all[0]!.text : wordsNow().partly(all.length, all.length));
    close();
  };

  // Each subject has its place from the beginning, so that nothing moves under the pointer when the answers come.
  const previewOf = (subject: string): Result =>
    preview.find((r) => r.subject === subject) ?? { subject, text: t.asking, tone: '', isAsked: true };
  const wanted = single ?? String(command.subjects.length);
  const isReady = !busy && (!command.isGrave || typed === wanted);
  const unknown = results.filter((r) => r.tone === 'unknown').map((r) => r.subject);
  const isOver = results.length === command.subjects.length && !busy;
  const refusals = preview.filter((r) => r.tone).length;
  return (
    <Dialog title={t.ask(command.verb, single ?? t.selected(command.subjects.length))} close={close}>
      {results.length === 0 && (
        <section class="stack" aria-live="polite">
          <h2>{t.would}</h2>
          <Results all={asking.map(previewOf)} total={command.subjects.length} single={!!single} />
        </section>
      )}
      {results.length > 0 && (
        <section class="stack" aria-live="polite">
          <Notice tone={results.some((r) => r.tone) ? 'bad' : 'warn'}>
            {t.partly(results.filter((r) => !r.tone).length, command.subjects.length)}
          </Notice>
          <Results all={results} total={results.length} single={false} />
        </section>
      )}
      <form
        class="stack"
        onSubmit={(e) => {
          e.preventDefault();
          if (isReady) void carryOut(isOver ? unknown : command.subjects);
        }}
      >
        {command.isGrave && !isOver && (
          <div class="field">
            <label for="typed">{t.typeName(wanted)}</label>
            <input
              id="typed"
              autocomplete="off"
              data-first
              value={typed}
              onInput={(e) => setTyped(e.currentTarget.value)}
            />
          </div>
        )}
        <div class="buttons">
          <button type="button" onClick={close}>
            {isOver ? t.close : t.cancel}
          </button>
          {(!isOver || unknown.length > 0) && (
            <button
              type="submit"
              class={command.isGrave ? 'danger' : 'primary'}
              data-first={!command.isGrave}
              disabled={!isReady || (!isOver && refusals === command.subjects.length)}
            >
              {isOver ? t.repeat : command.verb}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

function Results(p: { all: Result[]; total: number; single: boolean }): JSX.Element {
  const t = words();
  return (
    <ul class="stack">
      {p.all.map((r) => (
        <li key={r.subject} class={r.isAsked ? 'wrap muted' : 'wrap'}>
          {!p.single && <b>{r.subject}: </b>}
          {r.tone && (
            <span class={'chip ' + (r.tone === 'bad' ? 'bad' : 'warn')}>{r.tone === 'bad' ? t.refused : '?'}</span>
          )}{' '}
          {r.text}
        </li>
      ))}
      {p.all.length === previewsMax && p.total > previewsMax && <li class="muted">{t.ofMany(previewsMax, p.total)}</li>}
    </ul>
  );
}
