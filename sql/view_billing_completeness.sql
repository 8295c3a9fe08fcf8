-- How complete is the bill of each source and billing period, and has its provider closed it?
-- One row per source and period: those that are loaded, and those that should be. Session settings
-- gpu_audit.now, gpu_audit.window_from and gpu_audit.window_to say as of when, and for which window; without
-- them it is now, and no window.
-- A day without use is missing only where the source has use every day otherwise: on ten days at least, on four of
-- five between the first and the last day of use of each period, and on half of all between the first and the last.
-- Weekdays alone (five of seven) are no such habit, nor are the first twelve days of every month.
CREATE VIEW audit.billing_completeness AS
WITH clock AS (
    SELECT coalesce(nullif(current_setting('gpu_audit.now', true), '')::timestamptz, now()) AS now,
           nullif(current_setting('gpu_audit.window_from', true), '')::timestamptz AS window_from,
           nullif(current_setting('gpu_audit.window_to', true), '')::timestamptz AS window_to
), delivery AS (
    SELECT s.slice_id, bool_or(l.status = 'done') AS is_loaded, coalesce(sum(l.rows_rejected) FILTER (WHERE l.status = 'done'), 0) AS rows_rejected,
           bool_and(l.is_complete) FILTER (WHERE l.status = 'done') AS is_complete,
           (array_agg(l.status ORDER BY l.load_id DESC))[1] = 'failed' AS has_failed
    FROM audit.slice s
    JOIN audit.source o ON o.source_id = s.source_id AND o.kind = 'billing'
    JOIN audit.load l ON l.slice_id = s.slice_id AND l.status <> 'skipped'
    WHERE s.from_time IS NOT NULL
    GROUP BY s.slice_id
), loaded AS (
    SELECT s.source_id, s.slice_id, s.period, s.from_time, s.to_time, d.rows_rejected, d.is_complete, d.has_failed, p.days_present,
           p.rows_invoiced, p.rows_uninvoiced, p.delivered,
           EXISTS (SELECT 1 FROM audit.billing_total t WHERE t.slice_id = s.slice_id AND t.provider = 'aws')
           OR EXISTS (SELECT 1 FROM audit.billing_item i WHERE i.slice_id = s.slice_id AND i.provider = 'aws') AS is_aws
    FROM delivery d
    JOIN audit.slice s USING (slice_id)
    LEFT JOIN audit.billing_period p USING (slice_id)
    WHERE d.is_loaded
), day AS (
    SELECT l.source_id, l.slice_id, (l.from_time AT TIME ZONE 'UTC')::date + n AS day, get_bit(l.days_present, n) = 1 AS has_use
    FROM loaded l
    CROSS JOIN clock
    CROSS JOIN LATERAL generate_series(0, floor(extract(epoch FROM least(l.to_time, clock.now) - l.from_time) / 86400)::int - 1) n
    WHERE l.days_present IS NOT NULL
), habit AS (
    SELECT source_id, min(day) FILTER (WHERE has_use) AS first_day,
           count(*) FILTER (WHERE has_use) >= 10
               AND count(*) FILTER (WHERE has_use) * 5 >= count(*) FILTER (WHERE day BETWEEN period_first AND period_last) * 4
               AND count(*) FILTER (WHERE has_use) * 2 >= count(*) FILTER (WHERE day BETWEEN source_first AND source_last) AS is_daily
    FROM (SELECT *, min(day) FILTER (WHERE has_use) OVER (PARTITION BY slice_id) AS period_first,
                 max(day) FILTER (WHERE has_use) OVER (PARTITION BY slice_id) AS period_last,
                 min(day) FILTER (WHERE has_use) OVER (PARTITION BY source_id) AS source_first,
                 max(day) FILTER (WHERE has_use) OVER (PARTITION BY source_id) AS source_last FROM day) d
    GROUP BY source_id
), present AS (
    SELECT slice_id, count(*)::int AS expected, (count(*) FILTER (WHERE has_use))::int AS with_use, min(day) FILTER (WHERE has_use) AS first_day,
           max(day) FILTER (WHERE has_use) AS last_day, max(day) AS end_day, bool_or(has_use) FILTER (WHERE is_first) AS begins
    FROM (SELECT *, day = min(day) OVER (PARTITION BY slice_id) AS is_first FROM day) d
    GROUP BY slice_id
), absent AS (
    SELECT slice_id, string_agg(CASE WHEN from_day = to_day THEN from_day::text ELSE from_day || ' to ' || to_day END, ', ' ORDER BY from_day) AS days
    FROM (SELECT slice_id, min(day) AS from_day, max(day) AS to_day
          FROM (SELECT slice_id, day, day - (row_number() OVER (PARTITION BY slice_id ORDER BY day))::int AS run_of FROM day WHERE NOT has_use) n
          GROUP BY slice_id, run_of) r
    GROUP BY slice_id
), inner_gap AS (
    -- between the source's first day and the period's last day with use
    SELECT d.slice_id, count(*) AS days
    FROM day d JOIN present p USING (slice_id) JOIN habit h USING (source_id)
    WHERE NOT d.has_use AND h.is_daily AND d.day > h.first_day AND d.day < p.last_day
    GROUP BY d.slice_id
), told AS (
    SELECT l.*, p.expected, p.with_use, p.first_day, p.last_day, a.days AS days_missing, g.days AS gap_days, h.is_daily,
           max(l.rows_invoiced) OVER (PARTITION BY l.source_id) > 0 AS has_invoices,
           -- use that stops before the end of its month, and does not stay away in the next
           coalesce(h.is_daily AND p.last_day < p.end_day AND l.to_time <= clock.now
                    AND coalesce(lead(p.begins) OVER w, true), false) AS is_cut,
           clock.now, clock.window_from, clock.window_to
    FROM loaded l
    CROSS JOIN clock
    LEFT JOIN present p USING (slice_id)
    LEFT JOIN absent a USING (slice_id)
    LEFT JOIN inner_gap g USING (slice_id)
    LEFT JOIN habit h ON h.source_id = l.source_id
    WINDOW w AS (PARTITION BY l.source_id ORDER BY l.from_time)
), judged AS (
    SELECT t.*, v.state, v.reason
    FROM told t
    CROSS JOIN LATERAL (
        SELECT * FROM (VALUES
            (1, to_time > now, 'open', 'the period has not ended'),
            (2, is_cut, 'open', format('it ended, but there is no use after %s, and the source has use every day otherwise', last_day)),
            (3, rows_uninvoiced > 0 AND has_invoices, 'open', format('%s of %s rows carry no invoice number yet', rows_uninvoiced, rows_uninvoiced + rows_invoiced)),
            (4, rows_uninvoiced = 0 AND rows_invoiced > 0, 'final', 'every row carries an invoice number'),
            (5, delivered < to_time, 'open', format('it was delivered on %s, before the period ended', to_char(delivered, 'YYYY-MM-DD'))),
            (6, now < to_time + interval '14 days', 'open', 'it ended less than two weeks ago, and no invoice number says that it is closed'),
            (7, is_aws AND delivered < to_time + interval '14 days', 'open',
             format('it was delivered on %s; AWS rewrites a month for about two weeks after its end', to_char(delivered, 'YYYY-MM-DD'))),
            (8, is_aws AND delivered IS NOT NULL, 'closed', 'it was delivered more than two weeks after the period ended'),
            (9, true, 'unknown', 'the bill has no invoice numbers, so nothing tells whether it is closed')) v(place, holds, state, reason)
        WHERE holds ORDER BY place LIMIT 1) v
), bound AS (
    SELECT source_id, min(to_date(period, 'YYYY-MM')) AS first_month, max(to_date(period, 'YYYY-MM')) AS last_month,
           bool_or(coalesce(is_daily, false)) AS is_daily, (array_agg(coalesce(with_use, 0) ORDER BY from_time DESC))[1] > 0 AS still_used
    FROM told GROUP BY source_id
), expected AS (
    SELECT o.source_id, m.month::date AS month, b.first_month, b.last_month, b.is_daily, b.still_used
    FROM audit.source o
    CROSS JOIN clock
    LEFT JOIN bound b USING (source_id)
    CROSS JOIN LATERAL generate_series(
        least(b.first_month, (date_trunc('month', clock.window_from AT TIME ZONE 'UTC'))::date)::timestamp,
        greatest(b.last_month, (least(clock.window_to, clock.now) AT TIME ZONE 'UTC' - interval '1 second')::date)::timestamp, interval '1 month') m(month)
    WHERE o.kind = 'billing'
), absent_period AS (
    SELECT e.source_id, to_char(e.month, 'YYYY-MM') AS period, e.month::timestamp AT TIME ZONE 'UTC' AS from_time,
           (e.month + interval '1 month') AT TIME ZONE 'UTC' AS to_time,
           CASE WHEN e.first_month IS NULL THEN 'missing' WHEN e.month < e.first_month OR NOT e.is_daily THEN 'unknown'
                WHEN e.month < e.last_month OR e.still_used THEN 'missing' ELSE 'unknown' END AS state,
           CASE WHEN e.first_month IS NULL THEN 'no bill of this source is loaded'
                WHEN e.month < e.first_month THEN 'no bill of this period is loaded; the source may have begun later'
                WHEN NOT e.is_daily THEN 'no bill of this period is loaded; there may be none'
                WHEN e.month < e.last_month OR e.still_used THEN 'no bill of this period is loaded, and the source has use every day otherwise'
                ELSE 'no bill of this period is loaded; use had ended before' END AS reason
    FROM expected e
    WHERE NOT EXISTS (SELECT 1 FROM loaded l WHERE l.source_id = e.source_id AND l.period = to_char(e.month, 'YYYY-MM'))
)
SELECT j.source_id, o.name AS source_name, j.slice_id, j.period, j.from_time, j.to_time, coalesce(j.from_time < j.window_to AND j.to_time > j.window_from, false) AS in_window,
       j.state, j.reason,
       nullif(concat_ws('; ', CASE WHEN j.has_failed THEN 'the newest delivery could not be read' END,
                              CASE WHEN NOT j.is_complete THEN 'the source said that its answer was partial' END,
                              CASE WHEN j.rows_rejected = 1 THEN '1 row was rejected' WHEN j.rows_rejected > 1 THEN format('%s rows were rejected', j.rows_rejected) END,
                              CASE WHEN j.gap_days = 1 THEN '1 day without use between days with use'
                                   WHEN j.gap_days > 1 THEN format('%s days without use between days with use', j.gap_days) END), '') AS doubt,
       coalesce(j.is_daily, false) AS is_daily, coalesce(j.expected, (extract(epoch FROM j.to_time - j.from_time) / 86400)::int) AS days_expected,
       j.with_use AS days_with_use, j.days_missing, j.first_day, j.last_day, j.delivered, j.rows_invoiced, j.rows_uninvoiced, j.rows_rejected
FROM judged j
JOIN audit.source o USING (source_id)
UNION ALL
SELECT a.source_id, o.name, NULL, a.period, a.from_time, a.to_time, coalesce(a.from_time < clock.window_to AND a.to_time > clock.window_from, false),
       a.state, a.reason, NULL, NULL, (extract(epoch FROM a.to_time - a.from_time) / 86400)::int, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0
FROM absent_period a
JOIN audit.source o USING (source_id)
CROSS JOIN clock;
COMMENT ON VIEW audit.billing_completeness IS 'One row is a source and billing period: days present of days expected, last delivery, open or closed and why, and what speaks against it';
COMMENT ON COLUMN audit.billing_completeness.state IS 'open; final: every row has an invoice number; closed: delivered after AWS rewrites a month; unknown: nothing tells; missing: no bill where one should be';
COMMENT ON COLUMN audit.billing_completeness.doubt IS 'why the figures of the period cannot be trusted, whatever its state; NULL: nothing against them';
COMMENT ON COLUMN audit.billing_completeness.in_window IS 'the period holds time of the window of session settings gpu_audit.window_from and gpu_audit.window_to';
