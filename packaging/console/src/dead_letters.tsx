// SPDX-License-Identifier: Apache-2.0
// Runs that failed for good and wait for an operator.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { usePages } from './api';
import { give, SelectionBar } from './command';
import { allowed, deadLetterPage, settleDeadLetter, type DeadLetter } from './data';
import { useFreshRows } from './live';
import { changeQuery, hrefTo, place, useCell } from './store';
import { Table, type Column } from './table';
import { Time } from './ui';
import { words } from './words';

export function DeadLettersPage(): JSX.Element {
  const t = words();
  return (
    <>
      <div class="head">
        <h1>{t.deadLetters}</h1>
      </div>
      <DeadLettersTable />
    </>
  );
}

/** Of one job, or of all. */
export function DeadLettersTable(p: { job?: string }): JSX.Element {
  const t = words();
  const here = useCell(place);
  const [selected, setSelected] = useState<Set<string>>(new Set());
  const filters = {
    job: p.job ?? here.query.get('job') ?? '',
    item: here.query.get('item') ?? '',
    note: here.query.get('note') ?? '',
  };
  const rows = usePages<DeadLetter>(JSON.stringify([here.registry, filters]), (cursor, signal) =>
    deadLetterPage(filters, cursor, signal),
  );
  useFreshRows(p.job, rows);
  const keyOf = (d: DeadLetter) => `${d.job} / ${d.item} / ${d.due}`;
  const columns: Column<DeadLetter>[] = [
    ...(p.job
      ? []
      : [
          {
            id: 'job',
            title: t.job,
            filter: 'text' as const,
            width: 'minmax(140px,1fr)',
            cell: (d: DeadLetter) => (
              <a href={hrefTo(['jobs', d.job, 'dead-letters'])} tabIndex={-1}>
                {d.job}
              </a>
            ),
          },
        ]),
    { id: 'item', title: t.item, width: '80px', filter: 'text', cell: (d) => d.item },
    { id: 'due', title: t.due, width: '170px', cell: (d) => <Time at={d.due} /> },
    { id: 'ended', title: t.ended, width: '170px', from: 900, cell: (d) => <Time at={d.ended} /> },
    { id: 'attempt', title: t.attempt, width: '80px', end: true, from: 1000, cell: (d) => d.attempt },
    {
      id: 'instance',
      title: t.instance,
      width: 'minmax(140px,1fr)',
      from: 1200,
      cell: (d) => (
        <span class="mono" title={d.instance}>
          {d.instance}
        </span>
      ),
    },
    {
      id: 'note',
      title: t.failure,
      filter: 'text',
      width: 'minmax(180px,2fr)',
      cell: (d) => <span title={d.note}>{d.note}</span>,
    },
  ];
  const bulk = (verb: string, verdict: 'run-again' | 'discard') => {
    const letters = new Map(rows.rows.map((d) => [keyOf(d), d]));
    give({
      verb,
      subjects: [...selected],
      done: () => {
        setSelected(new Set());
        rows.again();
      },
      send: (subject, by) => settleDeadLetter(letters.get(subject)!, verdict, by),
    });
  };
  return (
    <>
      <Table
        label={t.deadLetters}
        columns={columns}
        rows={rows}
        keyOf={keyOf}
        filters={filters}
        filter={(column, value) => changeQuery({ [column]: value })}
        {...(allowed('command') ? { selected, select: setSelected } : {})}
        compact={(d) => (
          <div class="compact">
            <div>
              <span class="cut">
                {p.job ? '' : d.job + ' / '}
                {d.item}
              </span>
              <Time at={d.due} />
            </div>
            <div class="small muted">
              <span class="cut">{d.note}</span>
            </div>
          </div>
        )}
      />
      <div class="small muted" role="status">
        {t.loaded(rows.rows.length, rows.total, rows.complete)}
      </div>
      <SelectionBar
        count={selected.size}
        clear={() => setSelected(new Set())}
        all={[
          { title: t.runAgain, run: () => bulk(t.runAgain, 'run-again') },
          { title: t.discard, isGrave: true, run: () => bulk(t.discard, 'discard') },
        ]}
      />
    </>
  );
}
