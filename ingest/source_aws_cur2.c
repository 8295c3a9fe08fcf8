/* CUR 2.0, from Data Exports: the columns of source_aws_cur.c under their names there. */
#include <config.h>

#include "ingest/bill_aws.h"

const struct source source_aws_cur2 = {
    .format = "aws-cur2",
    .title = "AWS CUR 2.0 (Data Exports)",
    .kind = SOURCE_BILLING,
    .keys = bill_aws_keys,
    .bill = &bill_aws,
    .ingest = bill_aws_ingest,
};
