// SPDX-License-Identifier: Apache-2.0
// What an event database has recorded of runs, the newest first.
import type { JSX } from 'preact';
import { usePages } from './api';
import { databases, historyPage, type HistoryRow } from './data';
import { OutcomeChip } from './marks';
import { changeQuery, hrefTo, place, useCell } from './store';
import { Table, type Column } from './table';
import { durationText } from './time';
import { Notice, Time } from './ui';
import { words } from './words';

export function HistoryPage(): JSX.Element {
  const t = words();
  return (
    <>
      <div class="head">
        <h1>{t.history}</h1>
      </div>
      <HistoryTable />
    </>
  );
}

/** Of one job, or of all. */
export function HistoryTable(p: { job?: string }): JSX.Element {
  const t = words();
  const here = useCell(place);
  const all = useCell(databases);
  const database = here.query.get('database') || all[0] || '';
  const filters: Record<string, string> = { job: p.job ?? here.query.get('job') ?? '' };
  for (const name of ['server', 'item', 'outcome', 'from', 'to']) filters[name] = here.query.get(name) ?? '';
  const rows = usePages<HistoryRow>(JSON.stringify([here.registry, database, filters]), (cursor, signal) =>
    database ? historyPage(database, filters, cursor, signal) : Promise.resolve({ rows: [], next: '' }),
  );
  if (!all.length) return <Notice>{t.noDatabase}</Notice>;
  const columns: Column<HistoryRow>[] = [
    { id: 'began', title: t.began, width: '170px', cell: (h) => <Time at={h.began} /> },
    ...(p.job
      ? []
      : [
          {
            id: 'job',
            title: t.job,
            width: 'minmax(140px,1fr)',
            filter: 'text' as const,
            cell: (h: HistoryRow) => (
              <a href={hrefTo(['jobs', h.job, 'history'])} tabIndex={-1}>
                {h.job}
              </a>
            ),
          },
        ]),
    { id: 'item', title: t.item, width: '80px', end: true, filter: 'text', cell: (h) => h.item },
    {
      id: 'outcome',
      title: t.outcome,
      width: '120px',
      filter: [
        ['success', t.outcomes.success!],
        ['failure', t.outcomes.failure!],
        ['running', t.outcomes.running!],
      ],
      cell: (h) => <OutcomeChip outcome={h.outcome} />,
    },
    {
      id: 'duration',
      title: t.duration,
      width: '100px',
      end: true,
      cell: (h) => (h.began && h.ended ? durationText(Date.parse(h.ended) - Date.parse(h.began)) : '–'),
    },
    { id: 'server', title: t.server, width: 'minmax(110px,.7fr)', filter: 'text', from: 900, cell: (h) => h.server },
    {
      id: 'note',
      title: t.failure,
      width: 'minmax(140px,2fr)',
      from: 1000,
      cell: (h) => <span title={h.note}>{h.note}</span>,
    },
  ];
  return (
    <>
      <div class="row">
        {all.length > 1 && (
          <>
            <label for="database">{t.database}</label>
            <select id="database" value={database} onChange={(e) => changeQuery({ database: e.currentTarget.value })}>
              {all.map((d) => (
                <option key={d}>{d}</option>
              ))}
            </select>
          </>
        )}
        {(['from', 'to'] as const).map((end) => (
          <>
            <label for={end}>{t[end]}</label>
            <input
              id={end}
              type="datetime-local"
              value={filters[end]}
              onChange={(e) => changeQuery({ [end]: e.currentTarget.value })}
            />
          </>
        ))}
      </div>
      <Table
        label={t.history}
        columns={columns}
        rows={rows}
        keyOf={(h) => h.id}
        filters={filters}
        filter={(column, value) => changeQuery({ [column]: value })}
        compact={(h) => (
          <div class="compact">
            <div>
              <span class="cut">
                {p.job ? '' : h.job + ' / '}
                {h.item}
              </span>
              <OutcomeChip outcome={h.outcome} />
            </div>
            <div class="small muted">
              <span class="cut">{h.note || h.server}</span>
              <Time at={h.began} />
            </div>
          </div>
        )}
      />
      <div class="small muted" role="status">
        {t.loaded(rows.rows.length, rows.total, rows.complete)}
      </div>
    </>
  );
}
