// SPDX-License-Identifier: Apache-2.0
// The editor of a job's configuration. It shows what the server makes of a draft before anything is saved.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { newKey, Problem, problemText, useGet } from './api';
import {
  allowed,
  at,
  checkDraft,
  groups,
  readConfiguration,
  saveConfiguration,
  type Draft,
  type FieldSpec,
  type Review,
} from './data';
import { go } from './store';
import { Dialog, Notice, say, Time, useRest } from './ui';
import { words } from './words';

const restMs = 300; // a pause in typing after which the server is asked

export function ConfigurationEditor(p: { name: string }): JSX.Element {
  const t = words();
  const asked = useGet<unknown>(at('jobs', p.name, 'configuration'));
  const [outdated, setOutdated] = useState<unknown>(); // an answer that a newer one is going to replace
  if (asked.body === undefined || asked.body === outdated)
    return asked.fault ? (
      <Notice tone="bad">{asked.fault.message}</Notice>
    ) : (
      <p class="muted" role="status">
        {t.loading}
      </p>
    );
  return (
    <Editor
      key={asked.tag}
      name={p.name}
      stored={readConfiguration(asked.body)}
      tag={asked.tag}
      again={() => {
        setOutdated(asked.body);
        asked.again();
      }}
    />
  );
}

export function NewJobPage(): JSX.Element {
  const t = words();
  return (
    <>
      <div class="head">
        <h1>{t.addJob}</h1>
      </div>
      <Editor name="" stored={{}} tag="" again={() => undefined} />
    </>
  );
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? '') === JSON.stringify(b ?? '');
}

function shown(value: unknown): string {
  if (value === undefined || value === null || value === '') return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function Editor(p: { name: string; stored: Draft; tag: string; again(): void }): JSX.Element {
  const t = words();
  const [draft, setDraft] = useState<Draft>(p.stored);
  const [faults, setFaults] = useState<Record<string, string>>({}); // of texts that are no value
  const [review, setReview] = useState<Review>();
  const [asking, setAsking] = useState(false);
  const [saving, setSaving] = useState(false);
  const rest = useRest(draft, restMs);
  const name = p.name || String(draft.name ?? '');
  const mayChange = allowed(p.name ? 'change_settings' : 'add_job');

  useEffect(() => {
    if (!name) return undefined;
    const stop = new AbortController();
    setAsking(true);
    checkDraft(p.name, rest, p.tag, stop.signal)
      .then(setReview, (e: unknown) => {
        if (!stop.signal.aborted)
          setReview({
            problems: [{ field: '', text: problemText(e) }],
            words: [],
            dues: [],
            text: '',
            plan: undefined,
          });
      })
      .finally(() => !stop.signal.aborted && setAsking(false));
    return () => stop.abort();
  }, [JSON.stringify(rest), p.tag]);

  const specs = groups.flatMap((g) => g.fields);
  const names = [...new Set([...specs.map((s) => s.id), ...Object.keys(draft)])];
  const changed = names.filter((n) => !isSame(draft[n], p.stored[n]));
  const set = (id: string, value: unknown) => setDraft((d) => ({ ...d, [id]: value }));
  const faultOf = (id: string) => faults[id] ?? review?.problems.find((x) => x.field === id)?.text;
  const loose = review?.problems.filter((x) => !specs.some((s) => s.id === x.field)) ?? [];
  const canSave =
    mayChange &&
    changed.length > 0 &&
    !asking &&
    rest === draft &&
    !Object.keys(faults).length &&
    review?.problems.length === 0;
  return (
    <form
      class="config"
      onSubmit={(e) => {
        e.preventDefault();
        if (canSave) setSaving(true);
      }}
    >
      <div class="stack">
        {groups.map((group) => (
          <fieldset key={group.id} disabled={!mayChange}>
            <legend>{t.groups[group.id] ?? group.id}</legend>
            {group.fields.map(
              (spec) =>
                (!spec.onlyNew || !p.name) && (
                  <Field
                    key={spec.id}
                    spec={spec}
                    value={draft[spec.id]}
                    fault={faultOf(spec.id)}
                    isChanged={changed.includes(spec.id)}
                    change={(value) => set(spec.id, value)}
                    refuse={(text) =>
                      setFaults(({ [spec.id]: _, ...others }) => (text ? { ...others, [spec.id]: text } : others))
                    }
                  />
                ),
            )}
          </fieldset>
        ))}
        <p class="small muted">{t.secretsHint}</p>
      </div>
      <aside class="side-panel" aria-label={t.review}>
        <section class="card" aria-live="polite" aria-busy={asking ? 'true' : 'false'}>
          <h2>{t.inWords}</h2>
          {review?.words.length ? review.words.map((w) => <p key={w}>{w}</p>) : <p class="muted">–</p>}
          <h3>{t.nextDues}</h3>
          {review?.dues.length ? (
            <ol>
              {review.dues.map((due) => (
                <li key={due}>
                  <Time at={due} zone={String(draft.time_zone ?? '')} distance />
                </li>
              ))}
            </ol>
          ) : (
            <p class="muted">{review && !review.problems.length ? t.neverDue : '–'}</p>
          )}
          {loose.length > 0 && (
            <Notice tone="bad">
              {t.invalid}
              <ul>
                {loose.map((x) => (
                  <li key={x.text} class="wrap">
                    {x.field && <b>{x.field}: </b>}
                    {x.text}
                  </li>
                ))}
              </ul>
            </Notice>
          )}
        </section>
        <section class="card">
          <h2>{t.changes}</h2>
          {changed.length ? (
            <Changes names={changed} before={p.stored} after={draft} />
          ) : (
            <p class="muted">{t.noChanges}</p>
          )}
          {changed.length > 0 && review?.plan && <PlanView plan={review.plan} />}
          {mayChange ? (
            <div class="row">
              <button type="submit" class="primary" disabled={!canSave}>
                {t.review}…
              </button>
              <button
                type="button"
                class="plain"
                disabled={!changed.length}
                onClick={() => {
                  setDraft(p.stored);
                  setFaults({});
                }}
              >
                {t.reset}
              </button>
            </div>
          ) : (
            <p class="muted">{t.readOnly}</p>
          )}
        </section>
      </aside>
      {saving && (
        <SaveDialog
          name={name}
          isNew={!p.name}
          draft={draft}
          stored={p.stored}
          changed={changed}
          tag={p.tag}
          review={review!}
          close={() => setSaving(false)}
          saved={() => (p.name ? p.again() : go(['jobs', name]))}
          reload={() => {
            setSaving(false);
            p.again();
          }}
        />
      )}
    </form>
  );
}

function Changes(p: { names: string[]; before: Draft; after: Draft }): JSX.Element {
  const t = words();
  return (
    <table class="list diff small">
      <thead>
        <tr>
          <th scope="col">{t.field}</th>
          <th scope="col">{t.was}</th>
          <th scope="col">{t.willBe}</th>
        </tr>
      </thead>
      <tbody>
        {p.names.map((n) => (
          <tr key={n}>
            <td>{t.fields[n] ?? n}</td>
            <td class="old">{shown(p.before[n])}</td>
            <td class="new">{shown(p.after[n])}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function PlanView(p: { plan: NonNullable<Review['plan']> }): JSX.Element {
  const t = words();
  const { plan } = p;
  return (
    <div class="stack">
      <h3>{t.planText}</h3>
      <p>{plan.moved ? t.planMoved(plan.moved) : t.planNone}</p>
      {plan.shares.length > 0 && (
        <table class="list small">
          <thead>
            <tr>
              <th scope="col">{t.instance}</th>
              <th scope="col">{t.now}</th>
              <th scope="col">{t.then}</th>
            </tr>
          </thead>
          <tbody>
            {plan.shares.slice(0, 30).map((s) => (
              <tr key={s.instance}>
                <td class="mono">{s.instance}</td>
                <td>{s.now}</td>
                <td>{s.then}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

function SaveDialog(p: {
  name: string;
  isNew: boolean;
  draft: Draft;
  stored: Draft;
  changed: string[];
  tag: string;
  review: Review;
  close(): void;
  saved(): void;
  reload(): void;
}): JSX.Element {
  const t = words();
  const [fault, setFault] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const key = useRef(newKey());
  const save = async () => {
    setBusy(true);
    try {
      const effect = await saveConfiguration(p.name, p.draft, p.tag, key.current);
      say(effect.text || t.saved);
      p.saved();
    } catch (e) {
      setFault(e instanceof Problem ? e : new Problem(0, 'unknown', problemText(e)));
      setBusy(false);
    }
  };
  const isConflict = fault?.status === 412 || fault?.status === 409;
  return (
    <Dialog title={t.ask(t.save, p.name)} close={p.close}>
      <Changes names={p.changed} before={p.stored} after={p.draft} />
      {p.review.text && <p class="wrap">{p.review.text}</p>}
      {p.review.plan && <PlanView plan={p.review.plan} />}
      {fault && <Notice tone="bad">{isConflict ? t.conflict : fault.status ? fault.message : t.outcomeUnknown}</Notice>}
      <div class="buttons">
        <button type="button" onClick={p.close}>
          {t.cancel}
        </button>
        {isConflict ? (
          <button type="button" class="primary" onClick={p.reload}>
            {t.reload}
          </button>
        ) : (
          <button type="button" class="primary" disabled={busy} onClick={() => void save()}>
            {fault?.isOutcomeUnknown ? t.repeat : t.save}
          </button>
        )}
      </div>
    </Dialog>
  );
}

function Field(p: {
  spec: FieldSpec;
  value: unknown;
  fault: string | undefined;
  isChanged: boolean;
  change(value: unknown): void;
  refuse(text: string): void;
}): JSX.Element {
  const t = words();
  const { spec } = p;
  const id = 'field-' + spec.id;
  const label = t.fields[spec.id] ?? spec.id;
  const described = p.fault ? { 'aria-describedby': id + '-fault', 'aria-invalid': 'true' as const } : {};
  const outer =
    'field' + (spec.wide ? ' wide' : '') + (p.isChanged ? ' changed' : '') + (spec.kind === 'flag' ? ' check' : '');
  const fault = p.fault && (
    <span class="fault wrap" id={id + '-fault'} role="alert">
      {p.fault}
    </span>
  );
  if (spec.kind === 'flag')
    return (
      <div class={outer}>
        <input
          type="checkbox"
          id={id}
          checked={!!p.value}
          {...described}
          onChange={(e) => p.change(e.currentTarget.checked)}
        />
        <label for={id}>{label}</label>
        {fault}
      </div>
    );
  let input: JSX.Element;
  if (spec.kind === 'choice')
    input = (
      <select id={id} value={String(p.value ?? '')} {...described} onChange={(e) => p.change(e.currentTarget.value)}>
        {spec.choices!.map((c) => (
          <option key={c} value={c}>
            {c || '–'}
          </option>
        ))}
      </select>
    );
  else if (spec.kind === 'json')
    input = <JsonInput id={id} value={p.value} change={p.change} refuse={p.refuse} described={described} />;
  else if (spec.kind === 'number')
    input = (
      <input
        id={id}
        type="number"
        step={1}
        value={p.value === undefined ? '' : String(p.value)}
        {...described}
        onInput={(e) => p.change(e.currentTarget.value === '' ? undefined : Number(e.currentTarget.value))}
      />
    );
  else
    input = (
      <input
        id={id}
        type="text"
        class={spec.mono ? 'mono' : ''}
        value={String(p.value ?? '')}
        spellcheck={false}
        autocomplete="off"
        {...described}
        onInput={(e) => p.change(e.currentTarget.value)}
      />
    );
  return (
    <div class={outer}>
      <label for={id}>{label}</label>
      {input}
      {spec.kind === 'json' && <span class="hint">{t.schedulesHint}</span>}
      {fault}
    </div>
  );
}

function JsonInput(p: {
  id: string;
  value: unknown;
  change(value: unknown): void;
  refuse(text: string): void;
  described: object;
}): JSX.Element {
  const empty = p.value === undefined || (Array.isArray(p.value) && !p.value.length);
  const [text, setText] = useState(empty ? '' : JSON.stringify(p.value, null, 2));
  const own = useRef(p.value);
  useEffect(() => {
    if (own.current === p.value) return;
    own.current = p.value;
    setText(empty ? '' : JSON.stringify(p.value, null, 2));
  }, [p.value]);
  return (
    <textarea
      id={p.id}
      class="mono"
      rows={Math.min(10, Math.max(2, text.split('\n').length))}
      value={text}
      spellcheck={false}
      {...p.described}
      onInput={(e) => {
        const now = e.currentTarget.value;
        setText(now);
        try {
          own.current = now.trim() ? (JSON.parse(now) as unknown) : [];
          p.refuse('');
          p.change(own.current);
        } catch (fault) {
          p.refuse(problemText(fault));
        }
      }}
    />
  );
}
