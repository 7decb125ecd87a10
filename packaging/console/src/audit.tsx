// SPDX-License-Identifier: Apache-2.0
// Which commands operators have given, the newest first.
import type { JSX } from 'preact';
import { usePages } from './api';
import { auditPage, type AuditRow } from './data';
import { useFreshRows } from './live';
import { OutcomeChip } from './marks';
import { changeQuery, hrefTo, place, useCell } from './store';
import { Table, type Column } from './table';
import { Time } from './ui';
import { words } from './words';

export function AuditPage(): JSX.Element {
  const t = words();
  return (
    <>
      <div class="head">
        <h1>{t.audit}</h1>
      </div>
      <AuditTable />
    </>
  );
}

/** Of one job, or of all. */
export function AuditTable(p: { job?: string }): JSX.Element {
  const t = words();
  const here = useCell(place);
  const filters = {
    job: p.job ?? here.query.get('job') ?? '',
    operator: here.query.get('operator') ?? '',
    verb: here.query.get('verb') ?? '',
    outcome: here.query.get('outcome') ?? '',
  };
  const rows = usePages<AuditRow>(JSON.stringify([here.registry, filters]), (cursor, signal) =>
    auditPage(filters, cursor, signal),
  );
  useFreshRows(p.job, rows);
  const columns: Column<AuditRow>[] = [
    { id: 'at', title: t.time, width: '170px', cell: (a) => <Time at={a.at} /> },
    {
      id: 'operator',
      title: t.operator,
      filter: 'text',
      width: 'minmax(100px,.7fr)',
      cell: (a) => <span title={a.operator}>{a.operator}</span>,
    },
    ...(p.job
      ? []
      : [
          {
            id: 'job',
            title: t.job,
            filter: 'text' as const,
            width: 'minmax(140px,1fr)',
            cell: (a: AuditRow) => (
              <a href={hrefTo(['jobs', a.job, 'audit'])} tabIndex={-1}>
                {a.job}
              </a>
            ),
          },
        ]),
    { id: 'verb', title: t.verb, filter: 'text', width: '130px', cell: (a) => a.verb },
    { id: 'subject', title: t.subject, width: 'minmax(110px,.8fr)', from: 900, cell: (a) => a.subject || t.job },
    {
      id: 'outcome',
      title: t.outcome,
      filter: ['done', 'unchanged', 'refused'].map((o): [string, string] => [o, t.outcomes[o] ?? o]),
      width: '120px',
      cell: (a) => <OutcomeChip outcome={a.outcome} />,
    },
    {
      id: 'note',
      title: t.text,
      width: 'minmax(160px,2fr)',
      from: 1000,
      cell: (a) => <span title={a.note}>{a.note}</span>,
    },
  ];
  return (
    <>
      <Table
        label={t.audit}
        columns={columns}
        rows={rows}
        filters={filters}
        filter={(column, value) => changeQuery({ [column]: value })}
        keyOf={(a) => `${a.job}/${a.number}`}
        compact={(a) => (
          <div class="compact">
            <div>
              <span class="cut">
                {a.operator}: {a.verb} {p.job ? '' : a.job} {a.subject}
              </span>
              <OutcomeChip outcome={a.outcome} />
            </div>
            <div class="small muted">
              <span class="cut">{a.note}</span>
              <Time at={a.at} />
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
