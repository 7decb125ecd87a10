// SPDX-License-Identifier: Apache-2.0
// How states and outcomes look: a colour, and a shape or a sign, so that nothing depends on colour alone.
import type { JSX } from 'preact';
import { Chip, type Tone } from './ui';
import { words } from './words';

const tones: Record<string, Tone> = {
  ok: 'good',
  idle: 'idle',
  running: 'run',
  disabled: 'idle',
  sharding_due: 'warn',
  unowned: 'warn',
  retrying: 'warn',
  no_instances: 'idle',
  orphaned: 'bad',
  interrupted: 'bad',
  unreadable: 'bad',
  completed: 'good',
  failed: 'bad',
  coalesced: 'idle',
  skipped: 'idle',
  retried: 'warn',
  done: 'good',
  unchanged: 'idle',
  refused: 'bad',
  success: 'good',
  failure: 'bad',
  TASK_FINISHED: 'good',
  TASK_RUNNING: 'run',
  TASK_STAGING: 'idle',
  TASK_FAILED: 'bad',
  TASK_ERROR: 'bad',
  TASK_KILLED: 'warn',
};

export function toneOf(state: string): Tone {
  return tones[state] ?? 'idle';
}

export function HealthChip(p: { health: string; fault?: string | undefined }): JSX.Element {
  const t = words();
  return (
    <Chip tone={toneOf(p.health)} title={p.fault ?? t.healthHints[p.health]}>
      {t.healths[p.health] ?? p.health}
    </Chip>
  );
}

export function OutcomeChip(p: { outcome: string; title?: string }): JSX.Element {
  const t = words();
  return (
    <Chip tone={toneOf(p.outcome)} title={p.title}>
      {t.outcomes[p.outcome] ?? p.outcome}
    </Chip>
  );
}

const signs: Record<string, string> = {
  completed: '✓',
  failed: '×',
  coalesced: '»',
  skipped: '–',
  interrupted: '!',
  retried: '↻',
  running: '▸',
};
export const outcomes = Object.keys(signs);

/** A small square for a run. */
export function OutcomeMark(p: { outcome: string; title?: string }): JSX.Element {
  const t = words();
  const name = t.outcomes[p.outcome] ?? p.outcome;
  return (
    <span class={'o ' + toneOf(p.outcome)} role="img" aria-label={p.title ?? name} title={p.title ?? name}>
      <span aria-hidden="true">{signs[p.outcome] ?? '·'}</span>
    </span>
  );
}

export function Legend(): JSX.Element {
  const t = words();
  return (
    <div class="legend">
      {outcomes.map((o) => (
        <span key={o}>
          <OutcomeMark outcome={o} /> {t.outcomes[o]}
        </span>
      ))}
    </div>
  );
}
